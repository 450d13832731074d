/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the instructions of the products of the exported model "probe" alone: unpacking rows of
 * weights with 256 inputs, two at a time, and their sums with a tile of 16 rows of activations. */
#include <string.h>

#include "port.h"
#include "probe.h"

enum { BLOCKS = 8, ROWS = 16, PAIRS = 64 };

static uint8_t codes[PAIRS * 2 * BLOCKS * 16];
static int8_t work[2 * BLOCKS * PROBE_PLACE];
static int8_t rows[ROWS * BLOCKS * 32];
static int32_t sums[2 * ROWS];

static void run(void) {
  uint32_t pair, block;
  for (pair = 0; pair < PAIRS; pair++) {
    for (block = 0; block < 2 * BLOCKS; block++)
      probe_put4(work + block * PROBE_PLACE, codes + (pair * 2 * BLOCKS + block) * 16, block % 5);
    probe_dot(work, BLOCKS, rows, ROWS, sums);
  }
}

/* The last pair's sums from the codes, one by one. */
static int is_right(void) {
  const uint8_t* const pair = codes + (PAIRS - 1) * 2 * BLOCKS * 16;
  uint32_t output, row, k;
  for (output = 0; output < 2; output++)
    for (row = 0; row < ROWS; row++) {
      int32_t sum = 0;
      for (k = 0; k < BLOCKS * 32; k++) {
        const uint32_t block = 2 * (k / 32) + output;
        const uint8_t byte = pair[block * 16 + k % 16];
        const int32_t code = (k % 32 < 16 ? byte & 15 : byte >> 4) ^ 8;
        sum += (code - 8) * (1 << block % 5) * rows[row * BLOCKS * 32 + k];
      }
      if (sum != sums[2 * row + output]) return 0;
    }
  return 1;
}

int main(void) {
  const uint64_t products = (uint64_t)PAIRS * 2 * ROWS * BLOCKS * 32;
  uint64_t count;
  uint32_t i, state = 1;
  char text[24] = "thousandths ";
  for (i = 0; i < sizeof(codes); i++)
    codes[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
  for (i = 0; i < sizeof(rows); i++)
    rows[i] = (int8_t)((int)((state = state * 1664525 + 1013904223) >> 24) - 128);
  for (i = 0; i < sizeof(codes); i++)
    if ((codes[i] & 15) == 8 || codes[i] >> 4 == 8)
      codes[i] = 0; /* mantissas lie within -7 ... 7 */
  count = port_instructions();
  run();
  count = (port_instructions() - count) * 1000 / products;
  for (i = 0; i < 5; i++, count /= 10) text[16 - i] = (char)('0' + count % 10);
  text[17] = '\n';
  port_text(text);
  return is_right() ? 0 : 1;
}
