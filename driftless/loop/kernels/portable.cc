// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

namespace driftless::loop {
namespace {

typedef float Vector __attribute__((vector_size(16)));
constexpr int64_t kTileRows = 6;

[[gnu::always_inline]] inline float fused(float a, float b, float c) noexcept {
  return __builtin_fmaf(a, b, c);
}

[[gnu::always_inline]] inline void fuse(Vector& sum, float factor, const Vector& b) noexcept {
  for (int lane = 0; lane < 4; ++lane) sum[lane] = fused(factor, b[lane], sum[lane]);
}

}  // namespace
}  // namespace driftless::loop

#include "driftless/loop/kernels/epilogue_loops.inc"
#include "driftless/loop/kernels/epilogues.h"

DRIFTLESS_EPILOGUE_SET(portable, "portable")
