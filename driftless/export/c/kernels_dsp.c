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

/* Two codes of 4 bits, plus 8 each, in halfwords, to mantissa * 2^shift. */
static int16x2_t mantissas(uint32_t codes, unsigned shift, int16x2_t eights) {
  return __ssub16((int16x2_t)((codes & 0x000f000fu) << shift), eights);
}

static void put_pair(int8_t* at, int16x2_t even, int16x2_t odd) {
  __asm__ volatile("strd %0, %1, [%2]" : : "r"(even), "r"(odd), "r"(at) : "memory");
}

void reasoner_put4(int8_t* work, const uint8_t* codes, unsigned shift) {
  const int16x2_t eights = (int16x2_t)(0x00080008u << shift);
  int i;
  for (i = 0; i < 4; i++, codes += 4, work += 8) {
    uint32_t word;
    memcpy(&word, codes, 4);
    word ^= 0x88888888u;
    put_pair(work, mantissas(word, shift, eights), mantissas(word >> 8, shift, eights));
    put_pair(work + 32, mantissas(word >> 4, shift, eights), mantissas(word >> 12, shift, eights));
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

/* A block of both rows of weights, 64 bytes apart, times 32 bytes of two rows of activations: in
 * one piece, so that no compiler loads more than there are registers for. 16 instructions make 16
 * products. */
#define BLOCK                                                                                     \
  __asm__(                                                                                        \
      ".rept 8\n"                                                                                 \
      "ldr %[oa], [%[a]], #4\n"                                                                   \
      "ldr %[ob], [%[b]], #4\n"                                                                   \
      "ldrd %[w0], %[w1], [%[w], #64]\n"                                                          \
      "sxtb16 %[ea], %[oa]\n"                                                                     \
      "sxtb16 %[oa], %[oa], ror #8\n"                                                             \
      "sxtb16 %[eb], %[ob]\n"                                                                     \
      "sxtb16 %[ob], %[ob], ror #8\n"                                                             \
      "smlad %[s01], %[w0], %[ea], %[s01]\n"                                                      \
      "smlad %[s11], %[w0], %[eb], %[s11]\n"                                                      \
      "smlad %[s01], %[w1], %[oa], %[s01]\n"                                                      \
      "smlad %[s11], %[w1], %[ob], %[s11]\n"                                                      \
      "ldrd %[w0], %[w1], [%[w]], #8\n"                                                           \
      "smlad %[s00], %[w0], %[ea], %[s00]\n"                                                      \
      "smlad %[s10], %[w0], %[eb], %[s10]\n"                                                      \
      "smlad %[s00], %[w1], %[oa], %[s00]\n"                                                      \
      "smlad %[s10], %[w1], %[ob], %[s10]\n"                                                      \
      ".endr\n"                                                                                   \
      "add %[w], %[w], #64\n"                                                                     \
      : [a] "+r"(a), [b] "+r"(b), [w] "+r"(w), [s00] "+r"(s00), [s01] "+r"(s01), [s10] "+r"(s10), \
        [s11] "+r"(s11), [ea] "=&r"(even_a), [oa] "=&r"(odd_a), [eb] "=&r"(even_b),               \
        [ob] "=&r"(odd_b), [w0] "=&r"(w0), [w1] "=&r"(w1)                                         \
      :                                                                                           \
      : "memory")

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
      BLOCK;
    }
    sums[2 * row] = s00;
    sums[2 * row + 1] = s01;
    if (row + 1 < count) {
      sums[2 * row + 2] = s10;
      sums[2 * row + 3] = s11;
    }
  }
}
#undef BLOCK
#endif
