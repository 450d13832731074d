/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels in plain C: the truth about the others. */
#include "parts.h"

#if REASONER_KERNELS == REASONER_KERNELS_C
/* Four codes of 4 bits in the bytes of a word, to mantissa * 2^shift in each: c ^ 8 is the mantissa
 * plus 8, so that no byte ever disturbs another. */
static uint32_t mantissas(uint32_t codes, unsigned shift) {
  const uint32_t offset = 0x01010101u * (128u - (8u << shift));
  return (((codes ^ 0x08080808u) << shift) + offset) ^ 0x80808080u;
}

void reasoner_put4(int8_t* work, const uint8_t* codes, unsigned shift) {
  int i;
  for (i = 0; i < 16; i += 4) {
    uint32_t word, low, high;
    memcpy(&word, codes + i, 4);
    low = mantissas(word & 0x0f0f0f0fu, shift);
    high = mantissas(word >> 4 & 0x0f0f0f0fu, shift);
    memcpy(work + i, &low, 4);
    memcpy(work + 16 + i, &high, 4);
  }
}

void reasoner_put8(int8_t* work, const int8_t* values) { memcpy(work, values, 32); }

#define STEP(k)     \
  w0 = w[k];        \
  w1 = w[32 + (k)]; \
  s00 += w0 * a[k]; \
  s01 += w1 * a[k]; \
  s10 += w0 * b[k]; \
  s11 += w1 * b[k];

/* Two rows at a time, the last one twice where it is alone. */
void reasoner_dot(const int8_t* work, uint32_t blocks, const int8_t* codes, uint32_t count,
                  int32_t* sums) {
  const uint32_t stride = 32 * blocks;
  uint32_t row;
  for (row = 0; row < count; row += 2) {
    const int8_t* a = codes + row * stride;
    const int8_t* b = row + 1 < count ? a + stride : a;
    const int8_t* const end = a + stride;
    const int8_t* w = work;
    int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    int32_t w0, w1;
    while (a != end) {
      int k;
      for (k = 0; k < 32; k += 8) {
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) a += 8;
        b += 8;
        w += 8;
      }
      w += 32;
    }
    sums[2 * row] = s00;
    sums[2 * row + 1] = s01;
    if (row + 1 < count) {
      sums[2 * row + 2] = s10;
      sums[2 * row + 3] = s11;
    }
  }
}
#undef STEP
#endif
