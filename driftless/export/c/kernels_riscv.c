/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for RISC-V with vectors of 128 bits or more (V, or Zve32x and Zvl128b): a block of 32
 * bytes is two registers, its products are four, and their sum is one instruction. Processors
 * without vectors take the kernels in plain C. */
#include "reasoner.h"

#if REASONER_KERNELS == REASONER_KERNELS_RISCV
#include <riscv_vector.h>

void reasoner_put4(int32_t* work, const uint8_t* const* codes, const unsigned* shifts) {
  int8_t* at = (int8_t*)work;
  int row;
  for (row = 0; row < 2; row++, at += 32) {
    const vuint8m1_t bytes = __riscv_vle8_v_u8m1(codes[row], 16);
    const vint8m1_t low = __riscv_vreinterpret_v_u8m1_i8m1(__riscv_vsll_vx_u8m1(bytes, 4, 16));
    const vint8m1_t high = __riscv_vreinterpret_v_u8m1_i8m1(bytes);
    __riscv_vse8_v_i8m1(at, __riscv_vsll_vx_i8m1(__riscv_vsra_vx_i8m1(low, 4, 16), shifts[row], 16),
                        16);
    __riscv_vse8_v_i8m1(
        at + 16, __riscv_vsll_vx_i8m1(__riscv_vsra_vx_i8m1(high, 4, 16), shifts[row], 16), 16);
  }
}

void reasoner_put8(int32_t* work, const int8_t* const* values) {
  __riscv_vse8_v_i8m2((int8_t*)work, __riscv_vle8_v_i8m2(values[0], 32), 32);
  __riscv_vse8_v_i8m2((int8_t*)work + 32, __riscv_vle8_v_i8m2(values[1], 32), 32);
}

static vint32m1_t added(vint32m1_t sum, vint8m2_t w, vint8m2_t x) {
  return __riscv_vwredsum_vs_i16m4_i32m1(__riscv_vwmul_vv_i16m4(w, x, 32), sum, 32);
}

void reasoner_dot(const int32_t* work, uint32_t blocks, const int8_t* const* rows, int32_t* sums) {
  const int8_t *a = rows[0], *b = rows[1], *w = (const int8_t*)work;
  const int8_t* const end = a + 32 * blocks;
  vint32m1_t s00 = __riscv_vmv_v_x_i32m1(0, 1);
  vint32m1_t s01 = s00, s10 = s00, s11 = s00;
  for (; a != end; a += 32, b += 32, w += 64) {
    const vint8m2_t x = __riscv_vle8_v_i8m2(a, 32), y = __riscv_vle8_v_i8m2(b, 32);
    const vint8m2_t w0 = __riscv_vle8_v_i8m2(w, 32), w1 = __riscv_vle8_v_i8m2(w + 32, 32);
    s00 = added(s00, w0, x);
    s01 = added(s01, w1, x);
    s10 = added(s10, w0, y);
    s11 = added(s11, w1, y);
  }
  sums[0] = __riscv_vmv_x_s_i32m1_i32(s00);
  sums[1] = __riscv_vmv_x_s_i32m1_i32(s01);
  sums[2] = __riscv_vmv_x_s_i32m1_i32(s10);
  sums[3] = __riscv_vmv_x_s_i32m1_i32(s11);
}
#endif
