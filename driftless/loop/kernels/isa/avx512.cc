// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <immintrin.h>

namespace driftless::loop {
namespace {

using Vector = __m512;
constexpr int64_t kTileRows = 12;

[[gnu::always_inline]] inline float fused(float a, float b, float c) noexcept {
  return __builtin_fmaf(a, b, c);
}

[[gnu::always_inline]] inline void fuse(Vector& sum, float factor, const Vector& b) noexcept {
  sum = _mm512_fmadd_ps(_mm512_set1_ps(factor), b, sum);
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/epilogue_loops.inc"
#include "driftless/loop/kernels/epilogues.h"

DRIFTLESS_EPILOGUE_SET(avx512, "avx512")
