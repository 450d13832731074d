/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels in plain C: the truth about the others. A word has the weights of both outputs,
 *
 *   word = w0 + 65536 w1,   word * a = w0 a + 65536 w1 a,
 *
 * so that one product makes two. A block's sums of 32 products of 4 bits by 8 lie within -32512 ...
 * 32768: counted from OFFSET they are 16 bits without a sign, and leave the other half of the word
 * alone. Weights of 8 bits need more, and take a product each. */
#include "parts.h"

#if REASONER_KERNELS == REASONER_KERNELS_C
#define OFFSET 32512u

/* After a block's words come 2^shift of both outputs; zeros say that the words are weights of 8
 * bits, 32 of an output in 8 words. */
enum { FACTORS = 32, BLOCK_WORDS = REASONER_PLACE / 2 };

/* The word of two codes, at bits 0 to 3 of either half, that are 8 too large. */
static int32_t pair_of(uint32_t codes) { return (int32_t)(codes & 0x000f000fu) - 0x00080008; }

/* The words of two bytes of both rows: codes 0 and 16, then 1 and 17. */
static void put_pairs(int32_t* work, uint32_t codes) {
  codes ^= 0x88888888u;
  work[0] = pair_of(codes);
  work[16] = pair_of(codes >> 4);
  work[1] = pair_of(codes >> 8);
  work[17] = pair_of(codes >> 12);
}

/* Four bytes, the first one lowest on every machine; compilers make it one load where they may. */
static uint32_t word_at(const uint8_t* bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void reasoner_put4(int32_t* work, const uint8_t* const* codes, const unsigned* shifts) {
  int i;
  for (i = 0; i < 16; i += 4) {
    const uint32_t first = word_at(codes[0] + i), second = word_at(codes[1] + i);
    put_pairs(work + i, (first & 0xffffu) | second << 16);
    put_pairs(work + i + 2, first >> 16 | (second & 0xffff0000u));
  }
  for (i = 0; i < 2; i++) work[FACTORS + i] = 1 << shifts[i];
}

void reasoner_put8(int32_t* work, const int8_t* const* values) {
  memcpy(work, values[0], 32);
  memcpy(work + 8, values[1], 32);
  work[FACTORS] = work[FACTORS + 1] = 0;
}

#define STEP(k)     \
  w0 = w[k];        \
  w1 = w[32 + (k)]; \
  s00 += w0 * a[k]; \
  s01 += w1 * a[k]; \
  s10 += w0 * b[k]; \
  s11 += w1 * b[k];

/* Two rows' sums with a block of weights of 8 bits. */
static void add_bytes(const int8_t* w, const int8_t* a, const int8_t* b, uint32_t* sums) {
  int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  int32_t w0, w1;
  int k;
  for (k = 0; k < 32; k += 4, w += 4, a += 4, b += 4) {
    STEP(0) STEP(1) STEP(2) STEP(3)
  }
  sums[0] += (uint32_t)s00;
  sums[1] += (uint32_t)s01;
  sums[2] += (uint32_t)s10;
  sums[3] += (uint32_t)s11;
}
#undef STEP

#define STEP(k)      \
  pair = w[k];       \
  s0 += pair * a[k]; \
  s1 += pair * b[k]; \
  s2 += pair * c[k]; \
  s3 += pair * d[k];

/* Both halves of a word that was counted from OFFSET, the upper one as a number with a sign. */
#define TAKE(row, s)                                           \
  sums[2 * (row)] += ((uint32_t)(s)&0xffffu) * (uint32_t)w[0]; \
  sums[2 * (row) + 1] += (((uint32_t)(s) + 0x80000000u) >> 16) * (uint32_t)w[1];

/* Four rows' sums with a block of pairs, OFFSET times the factors too large. */
static void add_pairs(const int32_t* w, const int8_t* const* x, uint32_t at, uint32_t* sums) {
  const int8_t *a = x[0] + at, *b = x[1] + at, *c = x[2] + at, *d = x[3] + at;
  const int32_t* const end = w + 32;
  int32_t s0 = (int32_t)OFFSET - 0x01000000, s1 = s0, s2 = s0, s3 = s0;
  int32_t pair;
  while (w != end) {
    STEP(0) STEP(1) STEP(2) STEP(3) a += 4;
    b += 4;
    c += 4;
    d += 4;
    w += 4;
  }
  TAKE(0, s0) TAKE(1, s1) TAKE(2, s2) TAKE(3, s3)
}
#undef STEP
#undef TAKE

void reasoner_dot(const int32_t* work, uint32_t blocks, const int8_t* const* x, int32_t* out) {
  uint32_t sums[8] = {0};
  uint32_t over[2] = {0, 0};
  uint32_t at, i;
  for (at = 0; at < 32 * blocks; at += 32, work += BLOCK_WORDS) {
    if (work[FACTORS] == 0) {
      add_bytes((const int8_t*)work, x[0] + at, x[1] + at, sums);
      add_bytes((const int8_t*)work, x[2] + at, x[3] + at, sums + 4);
    } else {
      add_pairs(work, x, at, sums);
      for (i = 0; i < 2; i++) over[i] += OFFSET * (uint32_t)work[FACTORS + i];
    }
  }
  for (i = 0; i < 8; i++) {
    const uint32_t sum = sums[i] - over[i % 2];
    out[i] = sum < 0x80000000u ? (int32_t)sum : -(int32_t)(0xffffffffu - sum) - 1;
  }
}
#undef OFFSET
#endif
