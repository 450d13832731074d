// SPDX-License-Identifier: Apache-2.0
// Blocks that share a power-of-two scale. Where blocks are whole vectors of 8 values, each thread
// holds one vector and the threads of a block find its scale by shuffles: one read, one write.
#include "driftless/formats/block.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/lab/cuda/quant/rounding.cuh"
#include "driftless/lab/cuda/quant/teams.cuh"

namespace driftless::lab::cuda {
namespace {

using formats::BlockScaling;
using formats::ExponentRule;
using formats::power_of_two;

/// One candidate of the mse rule, as in formats/block.cc.
struct Candidate {
  int exponent;
  float inverse;
  float unit;
  uint32_t sum;

  __device__ Candidate(const formats::Element& element, int wanted, int octave)
      : exponent(formats::limit_exponent(element, wanted)),
        inverse(power_of_two(-exponent)),
        unit(power_of_two(exponent - octave + formats::kSquaredErrorBits / 2)),
        sum(0) {}

  template <class Rounding>
  __device__ void add(const Rounding& round, float x) {
    const float scaled = x * inverse;
    const float error = (scaled - round(scaled)) * unit;
    sum += __float2uint_rn(error * error);
  }
};

/// The shared exponent of a team's block; for_each calls its argument with each of the lane's
/// values.
template <class Rounding, class ForEach>
__device__ int shared_exponent(const BlockScaling& scaling, const Rounding& round, uint32_t largest,
                               int lanes, ForEach for_each) {
  const bool is_zero = largest == 0;
  // Teams of a warp stay together, so a zero block takes part in the sums.
  const float absmax = std::bit_cast<float>(is_zero ? 0x3f800000u : largest);
  const int exponent = formats::threshold_exponent(scaling, absmax);
  int best = formats::limit_exponent(scaling.element, exponent);
  if (scaling.rule == ExponentRule::Mse) {
    const int octave = formats::octave_of(absmax).exponent;
    Candidate middle(scaling.element, exponent, octave);
    Candidate above(scaling.element, exponent + 1, octave);
    Candidate below(scaling.element, exponent - 1, octave);
    for_each([&](float x) {
      middle.add(round, x);
      above.add(round, x);
      below.add(round, x);
    });
    uint32_t least = team_sum(middle.sum, lanes);
    const uint32_t above_sum = team_sum(above.sum, lanes);
    const uint32_t below_sum = team_sum(below.sum, lanes);
    if (above_sum < least) {
      least = above_sum;
      best = above.exponent;
    }
    if (below_sum < least) best = below.exponent;
  }
  return is_zero ? formats::E8m0fnu::kMinExponent : best;
}

/// One thread a vector; `lanes` threads a block.
template <class In, class Out, class Rounding>
__global__ void vector_blocks(BlockScaling scaling, Rounding round, quant::Extent unclipped,
                              int lanes, int64_t vectors, const In* in, Out* out, bool* inside,
                              int32_t* not_finite) {
  const int64_t vector = static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x;
  const bool is_there = vector < vectors;
  float x[kVector] = {};
  if (is_there) load_vector(in + vector * kVector, x);
  uint32_t largest = 0;
#pragma unroll
  for (int i = 0; i < kVector; ++i) largest = max(largest, formats::magnitude_bits(x[i]));
  if (largest >= formats::kFloatInfinityBits) *not_finite = 1;
  largest = team_max(largest, lanes);
  const int exponent = shared_exponent(scaling, round, largest, lanes, [&](auto visit) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) visit(x[i]);
  });
  if (!is_there) return;
  const float inverse = power_of_two(-exponent);
  const float scale = power_of_two(exponent);
  if (inside != nullptr) {
    const quant::Scale shared{scale, 0};
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      inside[vector * kVector + i] = quant::is_inside(unclipped, shared, x[i]);
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) x[i] = round(x[i] * inverse) * scale;
  store_vector(out + vector * kVector, x);
}

/// One team of kLanes a block, any shape. Writes the scales alone where `scales` is given.
template <int kLanes, class In, class Out, class Rounding>
__global__ void team_blocks(BlockScaling scaling, Rounding round, quant::Extent unclipped,
                            MatricesShape shape, int64_t group, int64_t runs, const In* in,
                            Out* out, bool* inside, int32_t* not_finite, quant::Scale* scales) {
  const int64_t id = (static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x) / kLanes;
  if (id >= runs) return;
  const int64_t lane = threadIdx.x % kLanes;
  const Run run = find_run(shape, group, id);
  const auto at = [&](int64_t i) { return static_cast<float>(in[run.first + i * run.stride]); };
  uint32_t largest = 0;
  for (int64_t i = lane; i < run.length; i += kLanes)
    largest = max(largest, formats::magnitude_bits(at(i)));
  largest = team_max(largest, kLanes);
  const int exponent = shared_exponent(scaling, round, largest, kLanes, [&](auto visit) {
    for (int64_t i = lane; i < run.length; i += kLanes) visit(at(i));
  });
  const float inverse = power_of_two(-exponent);
  const quant::Scale scale{power_of_two(exponent), 0};
  if (scales != nullptr) {
    if (lane == 0) scales[run.index] = scale;
    return;
  }
  if (largest >= formats::kFloatInfinityBits) *not_finite = 1;
  for (int64_t i = lane; i < run.length; i += kLanes) {
    const int64_t place = run.first + i * run.stride;
    const float x = at(i);
    out[place] = static_cast<Out>(round(x * inverse) * scale.scale);
    if (inside != nullptr) inside[place] = quant::is_inside(unclipped, scale, x);
  }
}

/// How many threads hold a block of that length, or 0 where it is no whole number of vectors that
/// a warp can hold evenly.
int lanes_of(const quant::QuantSpec& spec, const MatricesShape& shape) {
  const int64_t lanes = spec.group / kVector;
  const bool is_even = spec.group % kVector == 0 && lanes <= 32 && (lanes & (lanes - 1)) == 0;
  const bool is_whole = shape.lie == Lie::Rows && shape.length % spec.group == 0;
  return is_even && is_whole ? static_cast<int>(lanes) : 0;
}

template <class In, class Out>
void launch(const quant::QuantSpec& spec, const MatricesShape& shape,
            const QuantizeBuffers& buffers, quant::Scale* scales, cudaStream_t stream) {
  const formats::Element& element = spec.format->element;
  const BlockScaling scaling = formats::block_scaling(element, spec.rule);
  const quant::Extent unclipped = quant::unclipped(element);
  const In* const in = static_cast<const In*>(buffers.in);
  Out* const out = static_cast<Out*>(buffers.out);
  const int lanes = scales == nullptr ? lanes_of(spec, shape) : 0;
  with_block_rounding(element, [&](auto round) {
    using Rounding = decltype(round);
    if (lanes > 0) {
      const int64_t vectors = shape.matrices * shape.rows * shape.length / kVector;
      vector_blocks<In, Out, Rounding>
          <<<blocks_for(vectors, kTeamThreads), kTeamThreads, 0, stream>>>(
              scaling, round, unclipped, lanes, vectors, in, out, buffers.inside,
              buffers.not_finite);
      return;
    }
    const int64_t runs = run_count(shape, spec.group);
    const int64_t team = shape.lie == Lie::Rows ? 32 : 1;
    const auto kernel = shape.lie == Lie::Rows ? team_blocks<32, In, Out, Rounding>
                                               : team_blocks<1, In, Out, Rounding>;
    kernel<<<blocks_for(runs * team, kTeamThreads), kTeamThreads, 0, stream>>>(
        scaling, round, unclipped, shape, spec.group, runs, in, out, buffers.inside,
        buffers.not_finite, scales);
  });
}

}  // namespace

void quantize_blocks(const quant::QuantSpec& spec, MatricesShape shape,
                     const QuantizeBuffers& buffers, Stream stream) {
  with_real(buffers.in_type, [&](auto in) {
    with_real(buffers.out_type, [&](auto out) {
      launch<decltype(in), decltype(out)>(spec, shape, buffers, nullptr,
                                          static_cast<cudaStream_t>(stream));
    });
  });
  check_launch("quantize_blocks");
}

void block_scales(const quant::QuantSpec& spec, MatricesShape shape, Real type, const void* values,
                  quant::Scale* scales, Stream stream) {
  const QuantizeBuffers buffers{type, values, type, nullptr, nullptr, nullptr};
  with_real(type, [&](auto in) {
    launch<decltype(in), decltype(in)>(spec, shape, buffers, scales,
                                       static_cast<cudaStream_t>(stream));
  });
  check_launch("block_scales");
}

}  // namespace driftless::lab::cuda
