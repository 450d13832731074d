/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for Cortex-M55 and M85: VMLADAVA adds sixteen products of bytes to one sum. */
#include "reasoner.h"

#if REASONER_KERNELS == REASONER_KERNELS_MVE
#include <arm_mve.h>

void reasoner_put4(int8_t* work, const uint8_t* codes, unsigned shift) {
  const uint8x16_t bytes = vldrbq_u8(codes);
  const int8x16_t eight = vdupq_n_s8(8);
  const int8x16_t up = vdupq_n_s8((int8_t)shift);
  const int8x16_t low = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
  const int8x16_t high = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
  vstrbq_s8(work, vshlq_s8(vsubq_s8(veorq_s8(low, eight), eight), up));
  vstrbq_s8(work + 16, vshlq_s8(vsubq_s8(veorq_s8(high, eight), eight), up));
}

void reasoner_put8(int8_t* work, const int8_t* values) {
  vstrbq_s8(work, vldrbq_s8(values));
  vstrbq_s8(work + 16, vldrbq_s8(values + 16));
}

/* Sixteen weights of both rows, 32 bytes apart, times sixteen bytes of two rows. */
#define STEP(k)                  \
  x = vldrbq_s8(a + (k));        \
  y = vldrbq_s8(b + (k));        \
  z = vldrbq_s8(w + (k));        \
  s00 = vmladavaq_s8(s00, z, x); \
  s10 = vmladavaq_s8(s10, z, y); \
  z = vldrbq_s8(w + 32 + (k));   \
  s01 = vmladavaq_s8(s01, z, x); \
  s11 = vmladavaq_s8(s11, z, y);

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
    while (a != end) {
      int8x16_t x, y, z;
      STEP(0) STEP(16) a += 32;
      b += 32;
      w += 64;
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
