// SPDX-License-Identifier: Apache-2.0
// WebAssembly has no multiplication and addition rounded once. In double precision the product of
// two floats is exact and the sum is rounded to 53 bits, so that rounding it to 24 gives the fused
// result, unless the first rounding ended halfway between two floats. Rounding to odd instead takes
// those cases away: where the sum is not exact, the last of its bits becomes 1, toward the error's
// side, and 53 bits are more than the 24 + 2 that the second rounding needs (Boldo and Melquiond,
// "Emulation of a FMA and correctly rounded sums").
//
// The exponential of four lanes knows where each of its sums lies and needs none of that: see
// Constants.
#include <cstdint>

#include <wasm_simd128.h>

namespace driftless::loop {
namespace {

typedef float Vector __attribute__((vector_size(16)));
constexpr int64_t kTileRows = 2;

/// a * b + c. Plain arithmetic without branches, which the compiler turns into vectors.
[[gnu::always_inline]] inline float fused(float a, float b, float c) noexcept {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  // What the sum has lost, exactly (Knuth's two-sum); not a number where the sum is not finite.
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  const auto bits = __builtin_bit_cast(int64_t, sum);
  const bool is_even_and_inexact = (bits & 1) == 0 && (error < 0 || error > 0);
  // Up in magnitude where the signs agree.
  const int64_t toward = ((bits ^ __builtin_bit_cast(int64_t, error)) >> 63) | 1;
  return static_cast<float>(
      __builtin_bit_cast(double, bits + (is_even_and_inexact ? toward : int64_t{0})));
}

[[gnu::noinline]] void fuse_apart(Vector& sum, float factor, const Vector& b) noexcept {
  for (int lane = 0; lane < 4; ++lane) sum[lane] = fused(factor, b[lane], sum[lane]);
}

/// Rounds twice, which is once but for sums that end halfway in double precision, and for those
/// that have fewer bits as floats, below 2^-126. Both are rare; zeros are neither.
[[gnu::always_inline]] inline void fuse(Vector& sum, float factor, const Vector& b) noexcept {
  const v128_t c = __builtin_bit_cast(v128_t, sum);
  const v128_t values = __builtin_bit_cast(v128_t, b);
  const v128_t both = wasm_f64x2_splat(factor);
  const auto added = [&](v128_t two_values, v128_t two_sums) {
    return wasm_f64x2_add(wasm_f64x2_mul(both, wasm_f64x2_promote_low_f32x4(two_values)),
                          wasm_f64x2_promote_low_f32x4(two_sums));
  };
  const v128_t low = added(values, c);
  const v128_t high =
      added(wasm_i32x4_shuffle(values, values, 2, 3, 2, 3), wasm_i32x4_shuffle(c, c, 2, 3, 2, 3));
  const v128_t below = wasm_i32x4_shl(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), 3);
  const v128_t above = wasm_i32x4_shl(wasm_i32x4_shuffle(low, high, 1, 3, 5, 7), 1);
  const v128_t is_halfway = wasm_i32x4_eq(below, wasm_i32x4_const_splat(INT32_MIN));
  const v128_t is_tiny = wasm_u32x4_lt(wasm_i32x4_sub(above, wasm_i32x4_const_splat(1)),
                                       wasm_i32x4_const_splat(2 * 0x38100000 - 1));
  if (__builtin_expect(wasm_v128_any_true(wasm_v128_or(is_halfway, is_tiny)), 0))
    return fuse_apart(sum, factor, b);
  sum = __builtin_bit_cast(Vector,
                           wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(low),
                                              wasm_f32x4_demote_f64x2_zero(high), 0, 1, 4, 5));
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/epilogue_loops.inc"
#include "driftless/loop/kernels/epilogues.h"

namespace driftless::loop {
namespace {

/// The constants of exp_of_minus_magnitude as doubles. A fused step p * r + c that ends in floats
/// whose last bit is u is one addition there: the product of two floats is exact, and p * r + (a +
/// c) is rounded once, to a multiple of u, where u is the last bit of the doubles about a. Then a
/// goes away exactly. Where sums cross a power of two, as those of the last three steps do, a is
/// such that a + sum crosses one with them: for 1 it is 2^29 - 1, and below 2^29 the unit halves.
///
/// Loaded where they are used: engines make a constant of a vector anew, in three instructions.
struct Constants {
  double log2e = -1.44269504f;
  /// Adding it rounds to an integer, 127 more than which the low bits are then. No product ends
  /// halfway: log2e's mantissa is odd, so that such a one is a multiple of half of it, 6,051,101.5.
  double round = 0x1.8p52 + 127;
  /// Both parts: n * -ln2 has at most 7 + 36 bits, and n * -ln2 - m no more. The sum of m and the
  /// first part is a float (n has 7 bits, m none below 2^-25 where n is not zero, and the part none
  /// below 2^-9), so that only the second sum is rounded elsewhere, too.
  double minus_ln2 = -0.693359375 + double{2.12194440e-4f};
  double first = 1.38368353e-3f;
  struct Step {
    double above;  ///< a
    double next;   ///< a + c
  };
  /// |r| <= 0.3466: sums lie in [2^-7, 2^-6), [2^-5, 2^-4), [2^-3, 2^-2), and about 1/2, 1 and 1.
  Step steps[6] = {{0x1.8p22, 0x1.8p22 + double{8.37482419e-3f}},
                   {0x1.8p24, 0x1.8p24 + double{4.16682251e-2f}},
                   {0x1.8p26, 0x1.8p26 + double{1.66664198e-1f}},
                   {0x1p28 - 0.5, 0x1p28 - 0.5 + double{4.99999911e-1f}},
                   {0x1p29 - 1, 0x1p29},
                   {0x1p29 - 1, 0x1p29}};
};
constexpr Constants kConstants;

constexpr int64_t kVectorsAtOnce = 32;

/// The upper two of four lanes.
[[gnu::always_inline]] inline v128_t upper(v128_t lanes) noexcept {
  return wasm_i32x4_shuffle(lanes, lanes, 2, 3, 2, 3);
}

/// -m = n * ln2 + r for two lanes of magnitudes m.
struct Reduced {
  v128_t exponents;  ///< 127 + n, in the low half of each 64-bit lane
  v128_t rests;      ///< r, two floats
};

[[gnu::always_inline]] inline Reduced reduced(v128_t m, const Constants& constants) noexcept {
  const v128_t round = wasm_v128_load64_splat(&constants.round);
  const v128_t product = wasm_f64x2_mul(m, wasm_v128_load64_splat(&constants.log2e));
  const v128_t shifted = wasm_f64x2_add(product, round);
  const v128_t n = wasm_f64x2_sub(shifted, round);
  const v128_t whole = wasm_f64x2_mul(n, wasm_v128_load64_splat(&constants.minus_ln2));
  return {shifted, wasm_f32x4_demote_f64x2_zero(wasm_f64x2_sub(whole, m))};
}

/// The bits of e^r as a float, less those of 1, in the low half of each 64-bit lane.
[[gnu::always_inline]] inline v128_t polynomial(v128_t r, const Constants& constants) noexcept {
  v128_t p = wasm_v128_load64_splat(&constants.first);
#pragma clang loop unroll(full)
  for (int step = 0; step < 5; ++step) {
    const v128_t next = wasm_v128_load64_splat(&constants.steps[step].next);
    const v128_t above = wasm_f64x2_add(wasm_f64x2_mul(p, r), next);
    p = wasm_f64x2_sub(above, wasm_v128_load64_splat(&constants.steps[step].above));
  }
  return wasm_f64x2_add(wasm_f64x2_mul(p, r), wasm_v128_load64_splat(&constants.steps[5].next));
}

inline void exp_vectors(const float* x, float* out, int64_t count) noexcept {
  const Constants* constants = &kConstants;
  asm("" : "+r"(constants));
  int32_t exponents[4 * kVectorsAtOnce];
  for (int64_t i = 0; i < 4 * count; i += 4) {
    const v128_t magnitudes =
        wasm_v128_and(wasm_v128_load(x + i), wasm_i32x4_const_splat(0x7fffffff));
    const v128_t m =
        wasm_i32x4_min(magnitudes, wasm_i32x4_const_splat(__builtin_bit_cast(int32_t, 87.0f)));
    const Reduced low = reduced(wasm_f64x2_promote_low_f32x4(m), *constants);
    const Reduced high = reduced(wasm_f64x2_promote_low_f32x4(upper(m)), *constants);
    wasm_v128_store(exponents + i, wasm_i32x4_shuffle(low.exponents, high.exponents, 0, 2, 4, 6));
    wasm_v128_store(out + i, wasm_i32x4_shuffle(low.rests, high.rests, 0, 1, 4, 5));
  }
  for (int64_t i = 0; i < 4 * count; i += 4) {
    const v128_t r = wasm_v128_load(out + i);
    const v128_t low = polynomial(wasm_f64x2_promote_low_f32x4(r), *constants);
    const v128_t high = polynomial(wasm_f64x2_promote_low_f32x4(upper(r)), *constants);
    const v128_t exponent = wasm_i32x4_shl(wasm_v128_load(exponents + i), 23);
    wasm_v128_store(out + i, wasm_i32x4_add(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), exponent));
  }
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/isa/wasm_lanes.inc"

DRIFTLESS_EPILOGUE_SET_WITH(wasm_simd, "wasm_simd", silu_mul_lanes)
