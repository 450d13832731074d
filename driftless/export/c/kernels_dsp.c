/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for Cortex-M4 and M7: SMLAD multiplies two pairs of halfwords and adds both, so that
 * weights and activations are halfwords here. */
#include "reasoner.h"

#if REASONER_KERNELS == REASONER_KERNELS_DSP
#include <arm_acle.h>
#include <string.h>

/* Four bytes to halfwords:
 *
 *   sxtb16             (b0, b2)    of the rotated word   (b1, b3)
 *   pkhbt and pkhtb    (b0, b1)                          (b2, b3) */
static void put_word(int32_t* at, uint32_t bytes) {
  uint32_t even, odd, low, high;
  __asm__("sxtb16 %0, %1" : "=r"(even) : "r"(bytes));
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(odd) : "r"(bytes));
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(low) : "r"(even), "r"(odd));
  __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(high) : "r"(odd), "r"(even));
  at[0] = (int32_t)low;
  at[1] = (int32_t)high;
}

/* Four codes of 4 bits, plus 8 each, in bytes, to mantissa * 2^shift. */
static uint32_t mantissas(uint32_t codes, unsigned shift, uint32_t eights) {
  return (uint32_t)__ssub8((int8x4_t)((codes & 0x0f0f0f0fu) << shift), (int8x4_t)eights);
}

static void put_row(int32_t* at, const uint8_t* codes, unsigned shift) {
  const uint32_t eights = 0x08080808u << shift;
  int i;
  for (i = 0; i < 4; i++, codes += 4, at += 2) {
    uint32_t word;
    memcpy(&word, codes, 4);
    word ^= 0x88888888u;
    put_word(at, mantissas(word, shift, eights));
    put_word(at + 8, mantissas(word >> 4, shift, eights));
  }
}

void reasoner_put4(int32_t* work, const uint8_t* const* codes, const unsigned* shifts) {
  put_row(work, codes[0], shifts[0]);
  put_row(work + 16, codes[1], shifts[1]);
}

void reasoner_put8(int32_t* work, const int8_t* const* values) {
  int row, i;
  for (row = 0; row < 2; row++)
    for (i = 0; i < 32; i += 4, work += 2) {
      uint32_t word;
      memcpy(&word, values[row] + i, 4);
      put_word(work, word);
    }
}

/* A block of both rows of weights, 64 bytes apart, times that of two rows of activations: in one
 * piece, so that no compiler loads more than there are registers for. 12 instructions make 16
 * products. */
#define BLOCK                                                                                     \
  __asm__(                                                                                        \
      ".rept 8\n"                                                                                 \
      "ldrd %[a0], %[a1], [%[a]], #8\n"                                                           \
      "ldrd %[b0], %[b1], [%[b]], #8\n"                                                           \
      "ldrd %[w0], %[w1], [%[w], #64]\n"                                                          \
      "smlad %[s01], %[w0], %[a0], %[s01]\n"                                                      \
      "smlad %[s11], %[w0], %[b0], %[s11]\n"                                                      \
      "smlad %[s01], %[w1], %[a1], %[s01]\n"                                                      \
      "smlad %[s11], %[w1], %[b1], %[s11]\n"                                                      \
      "ldrd %[w0], %[w1], [%[w]], #8\n"                                                           \
      "smlad %[s00], %[w0], %[a0], %[s00]\n"                                                      \
      "smlad %[s10], %[w0], %[b0], %[s10]\n"                                                      \
      "smlad %[s00], %[w1], %[a1], %[s00]\n"                                                      \
      "smlad %[s10], %[w1], %[b1], %[s10]\n"                                                      \
      ".endr\n"                                                                                   \
      : [a] "+r"(a), [b] "+r"(b), [w] "+r"(w), [s00] "+r"(s00), [s01] "+r"(s01), [s10] "+r"(s10), \
        [s11] "+r"(s11), [a0] "=&r"(a0), [a1] "=&r"(a1), [b0] "=&r"(b0), [b1] "=&r"(b1),          \
        [w0] "=&r"(w0), [w1] "=&r"(w1)                                                            \
      :                                                                                           \
      : "memory")

void reasoner_dot(const int32_t* w, uint32_t blocks, const int16_t* const* rows, int32_t* sums) {
  const int16_t *a = rows[0], *b = rows[1];
  const int16_t* const end = a + 32 * blocks;
  int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  while (a != end) {
    int16x2_t a0, a1, b0, b1, w0, w1;
    BLOCK;
    w += 16;
  }
  sums[0] = s00;
  sums[1] = s01;
  sums[2] = s10;
  sums[3] = s11;
}
#undef BLOCK
#endif
