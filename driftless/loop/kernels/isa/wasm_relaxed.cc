// SPDX-License-Identifier: Apache-2.0
// WebAssembly's relaxed vectors may multiply and add with one rounding or with two, as the engine
// and the processor like. JavaScript takes this set only where a test at the start has seen one
// rounding (web/src/vectors.js), which is every processor with such an instruction; else the
// kernels of wasm_simd get the same bits through double precision.
#include <cstdint>

#include <wasm_simd128.h>

namespace driftless::loop {
namespace {

typedef float Vector __attribute__((vector_size(16)));
constexpr int64_t kTileRows = 4;

/// a * b + c.
[[gnu::always_inline]] inline v128_t fused_lanes(v128_t a, v128_t b, v128_t c) noexcept {
  return __builtin_wasm_relaxed_madd_f32x4(a, b, c);
}

[[gnu::always_inline]] inline float fused(float a, float b, float c) noexcept {
  return wasm_f32x4_extract_lane(
      fused_lanes(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)), 0);
}

[[gnu::always_inline]] inline void fuse(Vector& sum, float factor, const Vector& b) noexcept {
  sum = __builtin_bit_cast(Vector,
                           fused_lanes(wasm_f32x4_splat(factor), __builtin_bit_cast(v128_t, b),
                                       __builtin_bit_cast(v128_t, sum)));
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/epilogue_loops.inc"
#include "driftless/loop/kernels/epilogues.h"

namespace driftless::loop {
namespace {

/// Loaded where they are used: engines make a constant of a vector anew, in three instructions.
struct Constants {
  float log2e = -1.44269504f;
  float round = 12582912.0f;
  float ln2_high = -0.693359375f;
  float ln2_low = 2.12194440e-4f;
  float most = 87.0f;
  float first = 1.38368353e-3f;
  float others[6] = {8.37482419e-3f, 4.16682251e-2f, 1.66664198e-1f, 4.99999911e-1f, 1.0f, 1.0f};
};
constexpr Constants kConstants;

/// exp_of_minus_magnitude of four lanes.
[[gnu::always_inline]] inline v128_t exp_lanes(v128_t x) noexcept {
  const Constants* constants = &kConstants;
  asm("" : "+r"(constants));
  const auto all = [](const float& value) { return wasm_v128_load32_splat(&value); };
  const v128_t round = all(constants->round);
  const v128_t m = wasm_i32x4_min(wasm_f32x4_abs(x), all(constants->most));
  const v128_t shifted = fused_lanes(m, all(constants->log2e), round);
  const v128_t n = wasm_f32x4_sub(shifted, round);
  const v128_t r = fused_lanes(n, all(constants->ln2_low),
                               fused_lanes(n, all(constants->ln2_high), wasm_f32x4_neg(m)));
  v128_t p = all(constants->first);
#pragma clang loop unroll(full)
  for (const float& next : constants->others) p = fused_lanes(p, r, all(next));
  return wasm_i32x4_add(p, wasm_i32x4_shl(shifted, 23));
}

constexpr int64_t kVectorsAtOnce = 32;

inline void exp_vectors(const float* x, float* out, int64_t count) noexcept {
  for (int64_t i = 0; i < 4 * count; i += 4)
    wasm_v128_store(out + i, exp_lanes(wasm_v128_load(x + i)));
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/isa/wasm_lanes.inc"

DRIFTLESS_EPILOGUE_SET_WITH(wasm_relaxed, "wasm_relaxed", silu_mul_lanes)
