/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the instructions of the products of the exported model "probe" alone: unpacking rows of
 * weights with 256 inputs, two at a time, and their sums with a tile of 16 rows of activations. */
#include <string.h>

#include "port.h"
#include "probe.h"

enum { BLOCKS = 8, ROWS = 16, PAIRS = 64 };

static uint8_t codes[PAIRS * 2 * BLOCKS * 16];
static int32_t work[2 * BLOCKS * PROBE_PLACE / 4];
static probe_code rows[ROWS * BLOCKS * 32];
static int32_t sums[2 * ROWS];

static void put_pair(const uint8_t* pair) {
  uint32_t block;
  for (block = 0; block < BLOCKS; block++) {
    const uint8_t* const both[2] = {pair + block * 16, pair + (BLOCKS + block) * 16};
    const unsigned shifts[2] = {block % 5, (block + 1) % 5};
    probe_put4(work + block * PROBE_PLACE / 2, both, shifts);
  }
}

static void run(void) {
  uint32_t pair, row, i;
  for (pair = 0; pair < PAIRS; pair++) {
    put_pair(codes + pair * 2 * BLOCKS * 16);
    for (row = 0; row < ROWS; row += PROBE_ROWS) {
      const probe_code* together[PROBE_ROWS];
      for (i = 0; i < PROBE_ROWS; i++) together[i] = rows + (row + i) * BLOCKS * 32;
      probe_dot(work, BLOCKS, together, sums + 2 * row);
    }
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
        const uint32_t block = k / 32;
        const uint8_t byte = pair[(output * BLOCKS + block) * 16 + k % 16];
        const int32_t code = (k % 32 < 16 ? byte & 15 : byte >> 4) ^ 8;
        sum += (code - 8) * (1 << (block + output) % 5) * rows[row * BLOCKS * 32 + k];
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
  for (i = 0; i < ROWS * BLOCKS * 32; i++)
    rows[i] = (probe_code)((int)((state = state * 1664525 + 1013904223) >> 24) - 128);
  /* The largest sums that there can be: a block of -8 times rows of -128 and 127. */
  memset(codes + (PAIRS - 1) * 2 * BLOCKS * 16, 0x88, 16);
  memset(codes + ((PAIRS - 1) * 2 + 1) * BLOCKS * 16, 0x88, 16);
  for (i = 0; i < 2 * BLOCKS * 32; i++) rows[i] = (probe_code)(i < BLOCKS * 32 ? -128 : 127);
  count = port_instructions();
  run();
  count = (port_instructions() - count) * 1000 / products;
  for (i = 0; i < 5; i++, count /= 10) text[16 - i] = (char)('0' + count % 10);
  text[17] = '\n';
  port_text(text);
  return is_right() ? 0 : 1;
}
