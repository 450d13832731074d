// SPDX-License-Identifier: Apache-2.0
// Activations as the left factor of a product. A warp takes a row: it finds the scales of its
// blocks of 32 values, a lane a value, then what one integer of the row is worth, then the
// integers.
#include <algorithm>

#include "driftless/formats/scale_format.h"
#include "driftless/lab/cuda/integers/integers.h"
#include "driftless/lab/cuda/launch.cuh"
#include "driftless/lab/cuda/quant/rounding.cuh"
#include "driftless/lab/cuda/reduce.cuh"
#include "driftless/quant/scale/scalar_scale.h"
#include "driftless/quant/scale/window.h"

namespace driftless::lab::cuda {
namespace {

using formats::power_of_two;
using quant::QuantSpec;
using Rounding = quant::UniformRounding<Lane>;

constexpr int kWarps = 8;
constexpr int kBlock = 32;
constexpr int kMostBlocks = 128;

__device__ inline float warp_largest(float value) {
  return team_reduce(value, kBlock, [](float a, float b) { return fmaxf(a, b); });
}

/// mxintN with a window, as quant/scale/window.h and integer/operand.h have it.
struct PowerBlocks {
  static constexpr bool kHasBlocks = true;
  formats::BlockScaling scaling;
  Rounding round;
  int window;
  int fraction_bits;

  /// By a whole warp.
  __device__ float scale(float x) const {
    return power_of_two(threshold_block_exponent(scaling, warp_largest(fabsf(x))));
  }
  /// What one integer is worth in a row whose largest scale is `top`.
  __device__ float unit(float top) const {
    return power_of_two(formats::octave_of(top).exponent - window - fraction_bits);
  }
  __device__ float value(float x, float scale, float top) const {
    const float least = power_of_two(
        max(formats::octave_of(top).exponent - window, formats::E8m0fnu::kMinExponent));
    const float value = round(x / scale) * scale;
    return scale < least ? round(value / least) * least : value;
  }
};

/// Blocks with scale= and a window.
struct StoredBlocks {
  static constexpr bool kHasBlocks = true;
  formats::Element element;
  formats::ScaleRule rule;
  Rounding round;
  int64_t window;

  __device__ float scale(float x) const {
    const float high = warp_largest(x);
    const float low = -warp_largest(-x);
    const float absmax = fmaxf(high, -low);
    const float scale =
        formats::round_scale(rule, quant::scalar::symmetric_scale(element, absmax).scale);
    return formats::scale_sign(rule.format, low, high) * scale;
  }
  __device__ float unit(float top) const { return quant::scalar::row_unit(top, window); }
  __device__ float value(float x, float scale, float top) const {
    return quant::scalar::round_to_unit(unit(top), round(x / scale) * scale);
  }
};

/// One scale a row.
struct WholeRows {
  static constexpr bool kHasBlocks = false;
  formats::Element element;
  Rounding round;

  __device__ float scale(float x) const {
    return quant::scalar::symmetric_scale(element, warp_largest(fabsf(x))).scale;
  }
  __device__ float unit(float top) const { return top; }
  __device__ float value(float x, float scale, float /*top*/) const {
    return round(x / scale) * scale;
  }
};

/// The values of one row.
struct Row {
  const float* values;
  int64_t step;
  int64_t length;
  __device__ Row(const MatricesShape& shape, const float* in, int64_t row) : length(shape.length) {
    const int64_t matrix = row / shape.rows * shape.rows * shape.length;
    const int64_t in_matrix = row % shape.rows;
    const bool lies_along = shape.lie == Lie::Rows;
    values = in + matrix + in_matrix * (lies_along ? shape.length : 1);
    step = lies_along ? 1 : shape.rows;
  }
  /// Zero beyond the end.
  __device__ float operator[](int64_t i) const { return i < length ? values[i * step] : 0.0f; }
};

/// scales[block] of a row, by a whole warp; returns the largest magnitude among them.
template <class Coding>
__device__ float find_scales(const Coding& coding, const Row& row, float* scales) {
  const int lane = threadIdx.x % kBlock;
  float top = 0;
  if constexpr (Coding::kHasBlocks) {
    for (int64_t first = 0; first < row.length; first += kBlock) {
      const float scale = coding.scale(row[first + lane]);
      if (lane == 0) scales[first / kBlock] = scale;
      top = fmaxf(top, fabsf(scale));
    }
  } else {
    float largest = 0;
    for (int64_t i = lane; i < row.length; i += kBlock) largest = fmaxf(largest, fabsf(row[i]));
    top = coding.scale(largest);
  }
  __syncwarp();
  return top;
}

template <class Coding>
__global__ void encode_kernel(Coding coding, MatricesShape shape, const float* in, Integers out,
                              int32_t* not_finite) {
  __shared__ float scales_of_warps[kWarps][kMostBlocks];
  const int warp = threadIdx.x / kBlock;
  const int lane = threadIdx.x % kBlock;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  if (index >= out.rows) return;
  const Row row(shape, in, index);
  float* const scales = scales_of_warps[warp];
  const float top = find_scales(coding, row, scales);
  const float unit = coding.unit(top);
  for (int64_t i = lane; i < out.stride; i += kBlock) {
    const float x = row[i];
    if (formats::magnitude_bits(x) >= formats::kFloatInfinityBits) *not_finite = 1;
    float value = 0;
    if (i < row.length) value = coding.value(x, Coding::kHasBlocks ? scales[i / kBlock] : top, top);
    out.bytes[index * out.stride + i] = static_cast<int8_t>(__float2int_rn(value / unit));
  }
  if (lane == 0) out.units[index] = unit;
}

bool fit_bytes(const QuantSpec& spec) {
  if (spec.has_scale_codes())
    return quant::has_integer_rows(spec) && quant::integer_window(spec) == 0;
  return spec.format->element.bits - 1 + std::max(spec.window, int64_t{0}) <= 7;
}

}  // namespace

const char* why_not_encoded(const QuantSpec& spec) noexcept {
  constexpr const char* kExpected =
      "expected mxintN,window=W or blocks of 32 with scale= and a window whose integers fit bytes, "
      "or int8/token";
  const bool has_integers = !spec.is_none() && quant::is_uniform(spec.format->element) &&
                            !quant::is_asymmetric(spec.format->element);
  if (!has_integers || spec.source == quant::Source::Static || !fit_bytes(spec)) return kExpected;
  if (spec.is_in_blocks()) {
    if (spec.group != kBlock || spec.window == quant::kNoWindow) return kExpected;
    return spec.rule == formats::ExponentRule::Mse ? "expected another rule than mse" : "";
  }
  const bool is_plain =
      spec.granularity == quant::Granularity::Token && spec.calibration == quant::Calibration{};
  return is_plain ? "" : kExpected;
}

void encode(const QuantSpec& spec, MatricesShape shape, const float* values, const Integers& out,
            int32_t* not_finite, Stream stream) {
  const char* const why = why_not_encoded(spec);
  DRIFTLESS_REQUIRE(*why == '\0', ErrorCode::Unsupported, "encode: got ", to_string(spec), ", ",
                    why);
  DRIFTLESS_REQUIRE(shape.length <= int64_t{kBlock} * kMostBlocks, ErrorCode::Unsupported,
                    "encode: got rows of ", shape.length, ", expected at most ",
                    kBlock * kMostBlocks);
  const formats::Element& element = spec.format->element;
  const Rounding round(element);
  const auto run = [&](auto coding) {
    start("encode", encode_kernel<decltype(coding)>, blocks_for(out.rows, kWarps), kWarps * kBlock,
          stream, coding, shape, values, out, not_finite);
  };
  const auto window = static_cast<int>(spec.window);
  if (spec.has_scale_codes()) {
    run(StoredBlocks{element, spec.scale_rule(), round, window});
  } else if (spec.is_in_blocks()) {
    const int fraction_bits = -formats::octave_of(element.smallest).exponent;
    run(PowerBlocks{formats::block_scaling(element, spec.rule), round, window, fraction_bits});
  } else {
    run(WholeRows{element, round});
  }
}

}  // namespace driftless::lab::cuda
