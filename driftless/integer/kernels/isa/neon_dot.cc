// SPDX-License-Identifier: Apache-2.0
// Four columns a vector: NEON with the dot product instructions. 5 rows x 4 vectors of sums, 4
// vectors of a panel and one row are 25 of 32 registers.
#include <cstring>

#include <arm_neon.h>

#include "driftless/integer/kernels/dot_kernels.h"

namespace driftless::integer {
namespace {

struct NeonDot {
  using I = int32x4_t;
  static constexpr int kLanes = 4;
  static constexpr size_t kVectors = 4;
  static constexpr size_t kMaxRows = 5;
  static constexpr size_t kMaxBlockRows = 3;
  static constexpr uint8_t kRowFlip = 0;

  static I load(const int8_t* p) noexcept { return vreinterpretq_s32_s8(vld1q_s8(p)); }
  static I load(const int32_t* p) noexcept { return vld1q_s32(p); }
  static void store(int32_t* p, I v) noexcept { vst1q_s32(p, v); }
  static I set(int32_t value) noexcept { return vdupq_n_s32(value); }
  static I broadcast(const uint8_t* p) noexcept {
    int32_t four = 0;
    std::memcpy(&four, p, sizeof(four));
    return vdupq_n_s32(four);
  }
  static void dot(I& sum, I row, I columns) noexcept {
    sum = vdotq_s32(sum, vreinterpretq_s8_s32(row), vreinterpretq_s8_s32(columns));
  }
  static I add(I a, I b) noexcept { return vaddq_s32(a, b); }
  static I shift_left(I v, I counts) noexcept { return vshlq_s32(v, counts); }
  static void store_scaled(float* p, I sums, const float* column_scales, float row_scale) noexcept {
    const float32x4_t scale = vmulq_n_f32(vld1q_f32(column_scales), row_scale);
    vst1q_f32(p, vmulq_f32(vcvtq_f32_s32(sums), scale));
  }
};

}  // namespace

namespace neon_dot {
extern constinit const KernelSet kKernels = DotKernels<NeonDot>::set("neon_dot");
}  // namespace neon_dot

}  // namespace driftless::integer
