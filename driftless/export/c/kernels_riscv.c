/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for RISC-V without vectors (RV32IM and up): 31 registers hold the sums of two rows of
 * weights and four of activations, and bytes are read as bytes, since words may not be aligned. */
#include "reasoner.h"

#if REASONER_KERNELS == REASONER_KERNELS_RISCV
#include <string.h>

void reasoner_put4(int8_t* work, const uint8_t* codes, unsigned shift) {
  int i;
  for (i = 0; i < 16; i++) {
    const int32_t low = (codes[i] & 15) ^ 8, high = (codes[i] >> 4) ^ 8;
    work[i] = (int8_t)((low - 8) * (1 << shift));
    work[16 + i] = (int8_t)((high - 8) * (1 << shift));
  }
}

void reasoner_put8(int8_t* work, const int8_t* values) { memcpy(work, values, 32); }

#define STEP(k)     \
  w0 = w[k];        \
  w1 = w[32 + (k)]; \
  s00 += w0 * a[k]; \
  s01 += w1 * a[k]; \
  s10 += w0 * b[k]; \
  s11 += w1 * b[k]; \
  s20 += w0 * c[k]; \
  s21 += w1 * c[k]; \
  s30 += w0 * d[k]; \
  s31 += w1 * d[k];

/* Rows [row, row + 4), of which those from `count` on repeat the last one. */
static void dot_rows(const int8_t* w, uint32_t stride, const int8_t* codes, uint32_t row,
                     uint32_t count, int32_t* sums) {
  const uint32_t last = count - 1;
  const int8_t* a = codes + row * stride;
  const int8_t* b = codes + (row + 1 < count ? row + 1 : last) * stride;
  const int8_t* c = codes + (row + 2 < count ? row + 2 : last) * stride;
  const int8_t* d = codes + (row + 3 < count ? row + 3 : last) * stride;
  const int8_t* const end = a + stride;
  int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0, s20 = 0, s21 = 0, s30 = 0, s31 = 0;
  while (a != end) {
    int k;
    for (k = 0; k < 32; k += 2) {
      int32_t w0, w1;
      STEP(0) STEP(1) a += 2;
      b += 2;
      c += 2;
      d += 2;
      w += 2;
    }
    w += 32;
  }
  sums[0] = s00;
  sums[1] = s01;
  sums[2] = s10;
  sums[3] = s11;
  sums[4] = s20;
  sums[5] = s21;
  sums[6] = s30;
  sums[7] = s31;
}
#undef STEP

void reasoner_dot(const int8_t* work, uint32_t blocks, const int8_t* codes, uint32_t count,
                  int32_t* sums) {
  int32_t four[8];
  uint32_t row, i;
  for (row = 0; row < count; row += 4) {
    dot_rows(work, 32 * blocks, codes, row, count, four);
    for (i = 0; i < 8 && 2 * row + i < 2 * count; i++) sums[2 * row + i] = four[i];
  }
}
#endif
