/* SPDX-License-Identifier: Apache-2.0 */
/* Float32 by its bits, and the two operations that C99 leaves to a library: the fused product and
 * the root, both correctly rounded, in integers where the processor has none. */
#include "parts.h"

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* 2^exponent, -149 to 127. */
static float power_of_two(int exponent) {
  if (exponent < -126) return float_of((uint32_t)1 << (exponent + 149));
  return float_of((uint32_t)(exponent + 127) << 23);
}

#if !defined(REASONER_SOFT_FMA) && \
    (defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA) || defined(__riscv_flen))
static float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
/* A magnitude as significand * 2^exponent, the significand's highest bit at place 61. */
typedef struct {
  uint64_t significand;
  int exponent;
} magnitude;

static magnitude normalized(uint64_t significand, int exponent) {
  magnitude out;
  unsigned step;
  for (step = 32; step > 0; step /= 2)
    if ((significand >> (62 - step)) == 0) {
      significand <<= step;
      exponent -= (int)step;
    }
  out.significand = significand;
  out.exponent = exponent;
  return out;
}

static magnitude magnitude_of(uint32_t bits) {
  const uint32_t field = bits >> 23 & 0xff;
  const uint32_t fraction = bits & 0x7fffff;
  return field == 0 ? normalized(fraction, -149)
                    : normalized(fraction | 0x800000, (int)field - 150);
}

/* What is shifted out leaves a one in the lowest bit. */
static uint64_t shifted_sticky(uint64_t value, int shift) {
  if (shift <= 0) return value;
  if (shift > 63) return value != 0;
  return value >> shift | ((value & (((uint64_t)1 << shift) - 1)) != 0);
}

/* To nearest, ties to even. Requires a significand above zero. */
static float rounded(uint32_t sign, uint64_t significand, int exponent) {
  const int carry = (int)(significand >> 62); /* the two terms of a sum may have one */
  const magnitude m = normalized(shifted_sticky(significand, carry), exponent + carry);
  int place = m.exponent + 61; /* of the highest bit */
  int shift = 38;
  uint64_t kept;
  uint32_t whole;
  if (place < -126) shift += -126 - place;
  kept = shifted_sticky(m.significand, shift - 2);
  whole = (uint32_t)(kept >> 2);
  if ((kept & 3) > 2 || ((kept & 3) == 2 && (whole & 1) != 0)) whole++;
  if (place < -126) return float_of(sign | whole); /* carries into the exponent by itself */
  whole += (uint32_t)(place + 126) << 23;
  return float_of(sign | (place > 127 || whole > 0x7f800000 ? 0x7f800000 : whole));
}

/* a * b + c, rounded once. */
static float fused(float a, float b, float c) {
  const uint32_t sa = bits_of(a), sb = bits_of(b), sc = bits_of(c);
  const uint32_t sign = (sa ^ sb) & 0x80000000, sign_c = sc & 0x80000000;
  magnitude x, y, product, term;
  uint64_t low;
  if ((sa & 0x7f800000) == 0x7f800000 || (sb & 0x7f800000) == 0x7f800000 ||
      (sc & 0x7f800000) == 0x7f800000 || (sa << 1) == 0 || (sb << 1) == 0)
    return a * b + c;
  if ((sc << 1) == 0) return a * b;
  x = magnitude_of(sa);
  y = magnitude_of(sb);
  product = normalized((x.significand >> 38) * (y.significand >> 38), x.exponent + y.exponent + 76);
  term = magnitude_of(sc);
  if (term.exponent > product.exponent ||
      (term.exponent == product.exponent && term.significand > product.significand)) {
    low = shifted_sticky(product.significand, term.exponent - product.exponent);
    low = sign == sign_c ? term.significand + low : term.significand - low;
    return rounded(sign_c, low, term.exponent);
  }
  low = shifted_sticky(term.significand, product.exponent - term.exponent);
  low = sign == sign_c ? product.significand + low : product.significand - low;
  return low == 0 ? 0.0f : rounded(sign, low, product.exponent);
}
#endif

/* The root of a normal number above zero, bit by bit: 24 bits, and one to round by. */
static float root(float value) {
  const uint32_t bits = bits_of(value);
  const int exponent = (int)(bits >> 23) - 127;
  const int odd = exponent & 1;
  uint64_t rest = (uint64_t)((bits & 0x7fffff) | 0x800000) << (25 + odd);
  uint64_t sum = 0;
  uint64_t bit = (uint64_t)1 << 48;
  uint32_t whole;
  for (; bit != 0; bit >>= 2) {
    if (rest >= sum + bit) {
      rest -= sum + bit;
      sum = (sum >> 1) + bit;
    } else {
      sum >>= 1;
    }
  }
  /* 25 bits; a root is never half way between two floats. */
  whole = (uint32_t)((sum >> 1) + (sum & 1));
  return float_of(((uint32_t)((exponent - odd) / 2 + 126) << 23) + whole);
}

/* e^-|x| for |x| up to 87, e^-87 beyond. */
static float exp_of_minus_magnitude(float x) {
  const float log2e = 1.44269504f, round = 12582912.0f;
  const uint32_t most = bits_of(87.0f);
  const uint32_t bits = bits_of(x) & 0x7fffffff;
  const float m = float_of(bits < most ? bits : most);
  const float shifted = fused(m, -log2e, round);
  const float n = shifted - round;
  const float r = fused(n, 2.12194440e-4f, fused(n, -0.693359375f, -m));
  float p = 1.38368353e-3f;
  p = fused(p, r, 8.37482419e-3f);
  p = fused(p, r, 4.16682251e-2f);
  p = fused(p, r, 1.66664198e-1f);
  p = fused(p, r, 4.99999911e-1f);
  p = fused(p, r, 1.0f);
  p = fused(p, r, 1.0f);
  return float_of(bits_of(p) + (bits_of(shifted) << 23));
}

static float silu_times(float x, float up) {
  const float e = exp_of_minus_magnitude(x);
  const float above = 1.0f / (1.0f + e);
  const float below = e * above;
  return x * (x < 0.0f ? below : above) * up;
}
