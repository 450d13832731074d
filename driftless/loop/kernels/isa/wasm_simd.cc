// SPDX-License-Identifier: Apache-2.0
// WebAssembly has no multiplication and addition rounded once. In double precision the product of
// two floats is exact and the sum is rounded to 53 bits, so that rounding it to 24 gives the fused
// result, unless the first rounding ended halfway between two floats. Rounding to odd instead takes
// those cases away: where the sum is not exact, the last of its bits becomes 1, toward the error's
// side, and 53 bits are more than the 24 + 2 that the second rounding needs (Boldo and Melquiond,
// "Emulation of a FMA and correctly rounded sums").
#include <cstdint>

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

DRIFTLESS_EPILOGUE_SET(wasm_simd, "wasm_simd")
