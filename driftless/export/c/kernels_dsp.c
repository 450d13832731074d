/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for Cortex-M4 and M7: SMLAD multiplies two pairs of halfwords and adds both. Of four
 * neighbors, SXTB16 takes the first and third byte, after a rotation the second and fourth; weights
 * lie so already:
 *
 *   bytes    w0 w1 w2 w3                     a0 a1 a2 a3
 *   place    (w0, w2) (w1, w3) ...           widened when they are loaded */
#include "reasoner.h"

#if REASONER_KERNELS == REASONER_KERNELS_DSP
#include <arm_acle.h>
#include <string.h>

static int16x2_t even_bytes(uint32_t word) { return __sxtb16((int8x4_t)word); }

static int16x2_t odd_bytes(uint32_t word) {
  int16x2_t out;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(out) : "r"(word));
  return out;
}

/* Four bytes of weights to their place. */
static void put_word(int8_t* at, uint32_t word) {
  const int16x2_t even = even_bytes(word), odd = odd_bytes(word);
  memcpy(at, &even, 4);
  memcpy(at + 4, &odd, 4);
}

/* See reasoner.c: four codes of 4 bits to mantissa * 2^shift. */
static uint32_t mantissas(uint32_t codes, unsigned shift, uint32_t offset) {
  return (((codes ^ 0x08080808u) << shift) + offset) ^ 0x80808080u;
}

void reasoner_put4(int8_t* work, const uint8_t* codes, unsigned shift) {
  const uint32_t offset = 0x01010101u * (128u - (8u << shift));
  int i;
  for (i = 0; i < 16; i += 4) {
    uint32_t word;
    memcpy(&word, codes + i, 4);
    put_word(work + 2 * i, mantissas(word & 0x0f0f0f0fu, shift, offset));
    put_word(work + 32 + 2 * i, mantissas(word >> 4 & 0x0f0f0f0fu, shift, offset));
  }
}

void reasoner_put8(int8_t* work, const int8_t* values) {
  int i;
  for (i = 0; i < 32; i += 4) {
    uint32_t word;
    memcpy(&word, values + i, 4);
    put_word(work + 2 * i, word);
  }
}

/* Four weights of both rows, 64 bytes apart, times four bytes of two rows of activations. */
#define STEP(k)                                                                               \
  __asm__("ldrd %0, %1, [%2, %3]" : "=r"(w0), "=r"(w1) : "r"(w), "i"(8 * (k)), "m"(*w));      \
  memcpy(&word, a + 4 * (k), 4);                                                              \
  even_a = even_bytes(word);                                                                  \
  odd_a = odd_bytes(word);                                                                    \
  memcpy(&word, b + 4 * (k), 4);                                                              \
  even_b = even_bytes(word);                                                                  \
  odd_b = odd_bytes(word);                                                                    \
  s00 = __smlad(w1, odd_a, __smlad(w0, even_a, s00));                                         \
  s10 = __smlad(w1, odd_b, __smlad(w0, even_b, s10));                                         \
  __asm__("ldrd %0, %1, [%2, %3]" : "=r"(w0), "=r"(w1) : "r"(w), "i"(8 * (k) + 64), "m"(*w)); \
  s01 = __smlad(w1, odd_a, __smlad(w0, even_a, s01));                                         \
  s11 = __smlad(w1, odd_b, __smlad(w0, even_b, s11));

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
      int16x2_t w0, w1, even_a, odd_a, even_b, odd_b;
      uint32_t word;
      STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) a += 32;
      b += 32;
      w += 128;
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
