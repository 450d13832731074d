/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for Cortex-M55 and M85: VMLADAVA adds sixteen products of bytes to one sum. */
#include "reasoner.h"

#if REASONER_KERNELS == REASONER_KERNELS_MVE
#include <arm_mve.h>

void reasoner_put4(int32_t* work, const uint8_t* const* codes, const unsigned* shifts) {
  const int8x16_t eight = vdupq_n_s8(8);
  int8_t* at = (int8_t*)work;
  int row;
  for (row = 0; row < 2; row++, at += 32) {
    const uint8x16_t bytes = vldrbq_u8(codes[row]);
    const int8x16_t up = vdupq_n_s8((int8_t)shifts[row]);
    const int8x16_t low = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
    const int8x16_t high = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
    vstrbq_s8(at, vshlq_s8(vsubq_s8(veorq_s8(low, eight), eight), up));
    vstrbq_s8(at + 16, vshlq_s8(vsubq_s8(veorq_s8(high, eight), eight), up));
  }
}

void reasoner_put8(int32_t* work, const int8_t* const* values) {
  int8_t* at = (int8_t*)work;
  int row;
  for (row = 0; row < 2; row++, at += 32) {
    vstrbq_s8(at, vldrbq_s8(values[row]));
    vstrbq_s8(at + 16, vldrbq_s8(values[row] + 16));
  }
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

void reasoner_dot(const int32_t* work, uint32_t blocks, const int8_t* const* rows, int32_t* sums) {
  const int8_t *a = rows[0], *b = rows[1], *w = (const int8_t*)work;
  const int8_t* const end = a + 32 * blocks;
  int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  while (a != end) {
    int8x16_t x, y, z;
    STEP(0) STEP(16) a += 32;
    b += 32;
    w += 64;
  }
  sums[0] = s00;
  sums[1] = s01;
  sums[2] = s10;
  sums[3] = s11;
}
#undef STEP
#endif
