// SPDX-License-Identifier: Apache-2.0
// Four columns a vector: NEON without the dot product instructions.
#include <cstring>

#include <arm_neon.h>

#include "driftless/integer/kernels/digit_kernels.h"

namespace driftless::integer {
namespace {

struct Neon {
  using I = int32x4_t;
  using Bytes = int8x16_t;
  /// The 16 products of a vector's columns: 0 and 1 below, 2 and 3 above.
  struct Narrow {
    int16x8_t low;
    int16x8_t high;
  };
  static constexpr int kLanes = 4;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kMaxRows = 4;
  static constexpr uint8_t kRowFlip = 0;
  static constexpr ShiftForm kShiftForm = ShiftForm::Count;

  static I load(const int32_t* p) noexcept { return vld1q_s32(p); }
  static Bytes load_bytes(const int8_t* p) noexcept { return vld1q_s8(p); }
  static void store(int32_t* p, I v) noexcept { vst1q_s32(p, v); }
  static I set(int32_t value) noexcept { return vdupq_n_s32(value); }
  static Bytes broadcast(const uint8_t* p) noexcept {
    int32_t four = 0;
    std::memcpy(&four, p, sizeof(four));
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
  }
  static Narrow narrow_zero() noexcept { return {vdupq_n_s16(0), vdupq_n_s16(0)}; }
  static void narrow_add(Narrow& sum, Bytes row, Bytes columns) noexcept {
    sum.low = vmlal_s8(sum.low, vget_low_s8(row), vget_low_s8(columns));
    sum.high = vmlal_high_s8(sum.high, row, columns);
  }
  static I widen(const Narrow& sum, I shifts) noexcept {
    return vshlq_s32(vpaddlq_s16(vpaddq_s16(sum.low, sum.high)), shifts);
  }
  static I add(I a, I b) noexcept { return vaddq_s32(a, b); }
  static I shift_left(I v, int count) noexcept { return vshlq_s32(v, vdupq_n_s32(count)); }
  static void store_scaled(float* p, I sums, const float* column_scales, float row_scale) noexcept {
    const float32x4_t scale = vmulq_n_f32(vld1q_f32(column_scales), row_scale);
    vst1q_f32(p, vmulq_f32(vcvtq_f32_s32(sums), scale));
  }
};

}  // namespace

namespace neon {
extern constinit const KernelSet kKernels = DigitKernels<Neon>::set("neon");
}  // namespace neon

}  // namespace driftless::integer
