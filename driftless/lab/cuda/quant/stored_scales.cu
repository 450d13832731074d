// SPDX-License-Identifier: Apache-2.0
// The scales of blocks with scale=, which are stored with fractions.
#include <iterator>
#include <type_traits>
#include <utility>

#include "driftless/formats/block.h"
#include "driftless/lab/cuda/quant/extent.cuh"
#include "driftless/lab/cuda/quant/rounding.cuh"
#include "driftless/quant/scale/scalar_scale.h"

namespace driftless::lab::cuda {
namespace {

using quant::Extent;
using quant::QuantSpec;
using quant::Scale;

/// As quant::block_scale.
template <int kLanes, class T, class Rounding>
__global__ void stored_scale_kernel(Rounding round, formats::Element element,
                                    formats::ScaleRule rule, bool is_least_error,
                                    MatricesShape shape, int64_t group, int64_t runs,
                                    const T* values, Scale* scales) {
  const int64_t id = (static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x) / kLanes;
  if (id >= runs) return;
  const int64_t lane = threadIdx.x % kLanes;
  const Run run = find_run(shape, group, id);
  const Extent extent = extent_of<kLanes>(run, lane, values);
  const float absmax = fmaxf(extent.high, -extent.low);
  const float sign = formats::scale_sign(rule.format, extent.low, extent.high);
  const float nearest =
      formats::round_scale(rule, quant::scalar::symmetric_scale(element, absmax).scale);
  const float unit = formats::error_unit(absmax);
  const auto error_under = [&](float scale) {
    const float error_scale = scale * unit;
    uint32_t sum = 0;
    for (int64_t i = lane; i < run.length; i += kLanes) {
      const float scaled = static_cast<float>(values[run.first + i * run.stride]) / scale;
      const float error = (scaled - round(scaled)) * error_scale;
      sum += __float2uint_rn(error * error);
    }
    return team_sum(sum, kLanes);
  };
  float best = sign * nearest;
  if (is_least_error) {
    uint32_t least = error_under(best);
    const auto attempt = [&](int eighths) {
      const float scale = sign * formats::step_scale(rule.format, nearest, eighths);
      const uint32_t error = error_under(scale);
      if (error >= least) return;
      best = scale;
      least = error;
    };
    // Device code reads constants of the host by their values alone.
    [&]<size_t... I>(std::index_sequence<I...>) {
      (attempt(std::integral_constant<int, formats::kScaleSteps[I]>::value), ...);
    }
    (std::make_index_sequence<std::size(formats::kScaleSteps)>{});
  }
  if (lane == 0) scales[run.index] = {best, 0};
}

}  // namespace

void stored_scales(const QuantSpec& spec, MatricesShape shape, Real type, const void* values,
                   Scale* scales, Stream stream) {
  const int64_t runs = run_count(shape, spec.group);
  const int64_t team = shape.lie == Lie::Rows ? 32 : 1;
  with_real(type, [&](auto real) {
    with_block_rounding(spec.format->element, [&](auto round) {
      using T = decltype(real);
      using Rounding = decltype(round);
      const auto kernel = shape.lie == Lie::Rows ? stored_scale_kernel<32, T, Rounding>
                                                 : stored_scale_kernel<1, T, Rounding>;
      kernel<<<blocks_for(runs * team, kTeamThreads), kTeamThreads, 0,
               static_cast<cudaStream_t>(stream)>>>(
          round, spec.format->element, spec.scale_rule(), spec.rule == formats::ExponentRule::Mse,
          shape, spec.group, runs, static_cast<const T*>(values), scales);
    });
  });
  check_launch("stored_scales");
}

}  // namespace driftless::lab::cuda
