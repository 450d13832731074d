// SPDX-License-Identifier: Apache-2.0
// WebAssembly has no multiplication and addition rounded once. In double precision the product of
// two floats is exact and the sum is rounded to 53 bits, so that rounding it to 24 gives the fused
// result, unless the first rounding ended halfway between two floats. Rounding to odd instead takes
// those cases away: where the sum is not exact, the last of its bits becomes 1, toward the error's
// side, and 53 bits are more than the 24 + 2 that the second rounding needs (Boldo and Melquiond,
// "Emulation of a FMA and correctly rounded sums").
//
// Four lanes at a time that is dear. A first rounding that ended halfway is one of 2^29 bit
// patterns, so that exp_lanes only looks for it, and computes such lanes again.
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

[[gnu::always_inline]] inline void fuse(Vector& sum, float factor, const Vector& b) noexcept {
  for (int lane = 0; lane < 4; ++lane) sum[lane] = fused(factor, b[lane], sum[lane]);
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/epilogue_loops.inc"
#include "driftless/loop/kernels/epilogues.h"

namespace driftless::loop {
namespace {

/// a * b + c of two lanes, all of whose values are floats, as doubles. Half of a float's last bit
/// is added and what lies below that bit is dropped. What ended halfway between two floats is then
/// zero below, and so is its lane of `doubt`.
[[gnu::always_inline]] inline v128_t fused_lanes(v128_t a, v128_t b, v128_t c,
                                                 v128_t& doubt) noexcept {
  const v128_t sum = wasm_f64x2_add(wasm_f64x2_mul(a, b), c);
  const v128_t upper = wasm_i64x2_add(sum, wasm_i64x2_const_splat(0x10000000));
  doubt = wasm_u32x4_min(doubt, wasm_i32x4_shl(upper, 3));
  return wasm_v128_and(upper, wasm_i64x2_const_splat(~int64_t{0x1fffffff}));
}

/// Loaded where they are used: engines make a constant of a vector anew, in three instructions.
struct Constants {
  double log2e = -1.44269504f;
  double round = 12582912.0;
  double ln2_high = -0.693359375f;
  double ln2_low = 2.12194440e-4f;
  double first = 1.38368353e-3f;
  double others[6] = {8.37482419e-3f, 4.16682251e-2f, 1.66664198e-1f, 4.99999911e-1f, 1.0, 1.0};
};
constexpr Constants kConstants;

/// exp_of_minus_magnitude of two lanes of magnitudes m up to 87, where nothing is in doubt.
[[gnu::always_inline]] inline v128_t exp_pair(v128_t m, const Constants& constants,
                                              v128_t& doubt) noexcept {
  const v128_t round = wasm_v128_load64_splat(&constants.round);
  const v128_t shifted = fused_lanes(m, wasm_v128_load64_splat(&constants.log2e), round, doubt);
  const v128_t n = wasm_f64x2_sub(shifted, round);
  // Both sums are exact, and the first is a float: n has 7 bits, m none below 2^-25 where n is not
  // zero, and the constant none below 2^-9. The second often ends halfway.
  const v128_t high =
      wasm_f64x2_sub(wasm_f64x2_mul(n, wasm_v128_load64_splat(&constants.ln2_high)), m);
  const v128_t sum =
      wasm_f64x2_add(wasm_f64x2_mul(n, wasm_v128_load64_splat(&constants.ln2_low)), high);
  const v128_t r = wasm_f64x2_promote_low_f32x4(wasm_f32x4_demote_f64x2_zero(sum));
  v128_t p = wasm_v128_load64_splat(&constants.first);
#pragma clang loop unroll(full)
  for (const double& next : constants.others)
    p = fused_lanes(p, r, wasm_v128_load64_splat(&next), doubt);
  // The unit of `shifted`, between 2^23 and 2^24, is bit 29; the exponent's is 52.
  return wasm_f32x4_demote_f64x2_zero(wasm_i64x2_add(p, wasm_i64x2_shl(shifted, 23)));
}

[[gnu::always_inline]] inline v128_t exp_lanes(v128_t x) noexcept {
  const v128_t m = wasm_i32x4_min(wasm_v128_and(x, wasm_i32x4_const_splat(0x7fffffff)),
                                  wasm_i32x4_const_splat(__builtin_bit_cast(int32_t, 87.0f)));
  const Constants* constants = &kConstants;
  asm("" : "+r"(constants));
  v128_t doubt = wasm_i32x4_const_splat(-1);
  const v128_t low = exp_pair(wasm_f64x2_promote_low_f32x4(m), *constants, doubt);
  const v128_t high = exp_pair(wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(m, m, 2, 3, 2, 3)),
                               *constants, doubt);
  if (__builtin_expect(!wasm_i32x4_all_true(doubt), 0)) {
    float lanes[4];
    wasm_v128_store(lanes, x);
    for (float& lane : lanes) lane = exp_of_minus_magnitude(lane);
    return wasm_v128_load(lanes);
  }
  return wasm_i32x4_shuffle(low, high, 0, 1, 4, 5);
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/isa/wasm_lanes.inc"

DRIFTLESS_EPILOGUE_SET_WITH(wasm_simd, "wasm_simd", silu_mul_lanes)
