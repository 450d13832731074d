// SPDX-License-Identifier: Apache-2.0
// Float scales: the extent of each run, what calibration makes of it, the scale, and quantizing.
#include <algorithm>

#include "driftless/formats/block.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/lab/cuda/quant/extent.cuh"
#include "driftless/lab/cuda/quant/rounding.cuh"
#include "driftless/lab/cuda/quant/teams.cuh"
#include "driftless/quant/calibrate/threshold.h"
#include "driftless/quant/scale/scalar_scale.h"

namespace driftless::lab::cuda {
namespace {

using quant::Extent;
using quant::QuantSpec;
using quant::Scale;

template <int kLanes, class T>
__global__ void extent_kernel(bool is_asymmetric, MatricesShape shape, int64_t group, int64_t runs,
                              const T* values, Extent* out) {
  const int64_t id = (static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x) / kLanes;
  if (id >= runs) return;
  const int64_t lane = threadIdx.x % kLanes;
  const Run run = find_run(shape, group, id);
  const Extent extent = extent_of<kLanes>(run, lane, values);
  const float absmax = fmaxf(extent.high, -extent.low);
  if (lane == 0) out[run.index] = is_asymmetric ? extent : Extent{-absmax, absmax};
}

/// The values of a run, or of a whole matrix where group is 0, in the order of the rows.
template <class T>
struct Values {
  const T* values;
  MatricesShape shape;
  Run run;
  bool is_whole;

  __device__ Values(const T* all, const MatricesShape& of, int64_t group, int64_t id)
      : values(all), shape(of), run{}, is_whole(group == 0) {
    const int64_t size = of.rows * of.length;
    run = is_whole ? Run{id * size, 1, size, id} : find_run(of, group, id);
  }
  __device__ float operator[](int64_t i) const {
    int64_t place = i * run.stride;
    if (is_whole && shape.lie == Lie::Columns)
      place = i % shape.length * shape.rows + i / shape.length;
    return static_cast<float>(values[run.first + place]);
  }
};

/// Order statistic number `rank` (from 1) of the magnitudes: its bits, found from the top one by
/// counting.
template <class T>
__device__ float magnitude_of_rank(const Values<T>& run, int64_t lane, uint32_t rank) {
  uint32_t found = 0;
  for (int bit = 30; bit >= 0; --bit) {
    const uint32_t candidate = found | (1u << bit);
    uint32_t below = 0;
    for (int64_t i = lane; i < run.run.length; i += 32)
      below += formats::magnitude_bits(run[i]) < candidate ? 1 : 0;
    if (team_sum(below, 32) < rank) found = candidate;
  }
  return std::bit_cast<float>(found);
}

template <class T>
__global__ void percentile_kernel(double percentile, MatricesShape shape, int64_t group,
                                  int64_t runs, const T* values, Extent* in_out) {
  const int64_t id = (static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x) / 32;
  if (id >= runs) return;
  const int64_t lane = threadIdx.x % 32;
  const Values<T> run(values, shape, group, id);
  const double rank = ceil(percentile / 100 * static_cast<double>(run.run.length));
  const float most = magnitude_of_rank(run, lane, static_cast<uint32_t>(fmax(rank, 1.0)));
  const Extent full = in_out[run.run.index];
  __syncwarp();
  if (lane == 0) in_out[run.run.index] = {fmaxf(full.low, -most), fminf(full.high, most)};
}

/// Each lane tries two shares of the extent, all values in order.
template <class T, class Quantizer>
__global__ void least_error_kernel(Quantizer quantizer, formats::Element element,
                                   MatricesShape shape, int64_t group, int64_t runs,
                                   const T* values, Extent* in_out) {
  constexpr int kShares = quant::kShareSteps - quant::kFirstShare + 1;
  static_assert(kShares <= 64);
  const int64_t id = (static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x) / 32;
  if (id >= runs) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Values<T> run(values, shape, group, id);
  const Extent full = in_out[run.run.index];
  __syncwarp();
  // Extents of shares that are not there are those of the first, and never win.
  double best_error = 0;
  int best = 0;
  Extent best_extent = full;
  for (int turn = 0; turn < 2; ++turn) {
    const int tried = turn * 32 + lane;
    const float factor = static_cast<float>(quant::kShareSteps - tried) / quant::kShareSteps;
    const bool is_full = tried == 0 || tried >= kShares;
    const Extent extent = is_full ? full : Extent{full.low * factor, full.high * factor};
    const Scale scale = quant::scalar::scale_of(element, extent);
    double error = 0;
    for (int64_t i = 0; i < run.run.length; ++i) {
      const float x = run[i];
      const double difference = static_cast<double>(x) - static_cast<double>(quantizer(x, scale));
      error += difference * difference;
    }
    if (turn == 0 || error < best_error) {
      best_error = error;
      best = tried;
      best_extent = extent;
    }
  }
  for (int offset = 1; offset < 32; offset *= 2) {
    const double other_error = __shfl_xor_sync(0xffffffffu, best_error, offset);
    const int other = __shfl_xor_sync(0xffffffffu, best, offset);
    const Extent other_extent = {__shfl_xor_sync(0xffffffffu, best_extent.low, offset),
                                 __shfl_xor_sync(0xffffffffu, best_extent.high, offset)};
    if (other_error < best_error || (other_error == best_error && other < best)) {
      best_error = other_error;
      best = other;
      best_extent = other_extent;
    }
  }
  if (lane == 0) in_out[run.run.index] = best_extent;
}

__global__ void scale_kernel(formats::Element element, const Extent* extents, int64_t count,
                             Scale* scales) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x;
  if (i < count) scales[i] = quant::scalar::scale_of(element, extents[i]);
}

__global__ void two_level_kernel(formats::Element element, const Extent* blocks, int64_t count,
                                 const Extent* matrices, int64_t blocks_per_matrix, Scale* scales) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x;
  if (i >= count) return;
  const float tensor_scale =
      formats::two_level_tensor_scale(element, matrices[i / blocks_per_matrix].high);
  const uint16_t code = formats::two_level_block_scale(element, blocks[i].high, tensor_scale);
  scales[i] = {formats::two_level_scale(code, tensor_scale), 0};
}

/// What a window makes of a row's values once they are quantized.
struct Window {
  int64_t octaves;  ///< kNoWindow: nothing
  bool has_units;   ///< whether scales have fractions

  template <class Quantizer>
  __device__ float operator()(const Quantizer& quantizer, float value, float scale,
                              const Scale* scales, int64_t count) const {
    if (octaves == quant::kNoWindow) return value;
    float top = 0;
    for (int64_t i = 0; i < count; ++i) top = fmaxf(top, fabsf(scales[i].scale));
    if (has_units)
      return quant::scalar::round_to_unit(quant::scalar::row_unit(top, octaves), value);
    const int exponent = formats::octave_of(top).exponent - static_cast<int>(octaves);
    const float floor = formats::power_of_two(max(exponent, formats::E8m0fnu::kMinExponent));
    return scale < floor ? quantizer(value, {floor, 0}) : value;
  }
};

/// One thread a vector of 8 values, which share a scale.
template <class In, class Out, class Quantizer>
__global__ void apply_to_vectors(Quantizer quantizer, Extent unclipped, MatricesShape shape,
                                 const Scale* scales, ScaleIndex index, uint32_t vectors,
                                 const In* in, Out* out, bool* inside, int32_t* not_finite,
                                 Result result) {
  const uint32_t vector = blockIdx.x * kTeamThreads + threadIdx.x;
  if (vector >= vectors) return;
  const uint32_t length = static_cast<uint32_t>(shape.length);
  const uint32_t rows = static_cast<uint32_t>(shape.rows);
  const uint32_t row = vector * kVector / length;
  const uint32_t group = vector * kVector % length / static_cast<uint32_t>(index.group);
  const Scale scale = scales[row / rows * index.matrix_step + row % rows * index.row_step + group];
  const int64_t first = static_cast<int64_t>(vector) * kVector;
  float x[kVector];
  load_vector(in + first, x);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    if (formats::magnitude_bits(x[i]) >= formats::kFloatInfinityBits) *not_finite = 1;
    if (inside != nullptr) inside[first + i] = quant::is_inside(unclipped, scale, x[i]);
    x[i] = result == Result::Elements ? quantizer.element(x[i], scale) : quantizer(x[i], scale);
  }
  store_vector(out + first, x);
}

/// What apply_to_vectors reads; no vectors where it cannot.
struct Vectors {
  MatricesShape shape;
  ScaleIndex index;
  uint32_t count;
};
Vectors vectors_of(const QuantSpec& spec, MatricesShape shape, ScaleIndex index) {
  const int64_t size = shape.matrices * shape.rows * shape.length;
  index.group = std::min(index.group, shape.length);
  if (index.row_step == 0 && index.group == shape.length) {
    // A matrix with one scale is one row, however it lies.
    shape = {shape.matrices, 1, shape.rows * shape.length, Lie::Rows};
    index.group = shape.length;
  }
  const bool is_even = shape.lie == Lie::Rows && shape.length % kVector == 0 &&
                       (index.group % kVector == 0 || index.group == shape.length);
  const bool is_small = size < (int64_t{1} << 31);
  const bool fits = is_even && is_small && spec.window == quant::kNoWindow;
  return {shape, index, fits ? static_cast<uint32_t>(size / kVector) : 0};
}

/// One warp a line of memory: a row, or one position of all rows.
template <class In, class Out, class Quantizer>
__global__ void apply_kernel(Quantizer quantizer, Extent unclipped, MatricesShape shape,
                             Window window, const Scale* scales, ScaleIndex index, const In* in,
                             Out* out, bool* inside, int32_t* not_finite, Result result) {
  const bool has_rows = shape.lie == Lie::Rows;
  const int64_t lines = has_rows ? shape.rows : shape.length;
  const int64_t width = has_rows ? shape.length : shape.rows;
  const int64_t line = (static_cast<int64_t>(blockIdx.x) * kTeamThreads + threadIdx.x) / 32;
  if (line >= shape.matrices * lines) return;
  const int64_t matrix = line / lines;
  const int64_t groups = (shape.length + index.group - 1) / index.group;
  for (int64_t i = threadIdx.x % 32; i < width; i += 32) {
    const int64_t row = has_rows ? line % lines : i;
    const int64_t column = has_rows ? i : line % lines;
    const Scale* const of_row = scales + matrix * index.matrix_step + row * index.row_step;
    const Scale scale = of_row[column / index.group];
    const float x = static_cast<float>(in[line * width + i]);
    if (formats::magnitude_bits(x) >= formats::kFloatInfinityBits) *not_finite = 1;
    float value = window(quantizer, quantizer(x, scale), scale.scale, of_row, groups);
    if (result == Result::Elements) value = quantizer.element(x, scale);
    out[line * width + i] = static_cast<Out>(value);
    if (inside != nullptr) inside[line * width + i] = quant::is_inside(unclipped, scale, x);
  }
}

}  // namespace

void extents(const QuantSpec& spec, MatricesShape shape, int64_t group, Real type,
             const void* values, Extent* out, Stream stream) {
  const int64_t runs = run_count(shape, group);
  const int64_t team = shape.lie == Lie::Rows ? 32 : 1;
  with_real(type, [&](auto real) {
    using T = decltype(real);
    const auto kernel = shape.lie == Lie::Rows ? extent_kernel<32, T> : extent_kernel<1, T>;
    kernel<<<blocks_for(runs * team, kTeamThreads), kTeamThreads, 0,
             static_cast<cudaStream_t>(stream)>>>(quant::is_asymmetric(spec.format->element), shape,
                                                  group, runs, static_cast<const T*>(values), out);
  });
  check_launch("extents");
}

void calibrate_extents(const QuantSpec& spec, MatricesShape shape, int64_t group, Real type,
                       const void* values, Extent* in_out, Stream stream) {
  const int64_t runs = group == 0 ? shape.matrices : run_count(shape, group);
  const unsigned blocks = blocks_for(runs * 32, kTeamThreads);
  const auto on = static_cast<cudaStream_t>(stream);
  with_real(type, [&](auto real) {
    using T = decltype(real);
    const T* const in = static_cast<const T*>(values);
    if (spec.calibration.kind == quant::Calibration::Kind::Percentile) {
      percentile_kernel<T><<<blocks, kTeamThreads, 0, on>>>(spec.calibration.percentile, shape,
                                                            group, runs, in, in_out);
      return;
    }
    with_quantizer(spec.format->element, [&](auto quantizer) {
      least_error_kernel<T, decltype(quantizer)><<<blocks, kTeamThreads, 0, on>>>(
          quantizer, spec.format->element, shape, group, runs, in, in_out);
    });
  });
  check_launch("calibrate_extents");
}

void scales_of_extents(const QuantSpec& spec, const Extent* extents, int64_t count, Scale* scales,
                       Stream stream) {
  scale_kernel<<<blocks_for(count, kTeamThreads), kTeamThreads, 0,
                 static_cast<cudaStream_t>(stream)>>>(spec.format->element, extents, count, scales);
  check_launch("scales_of_extents");
}

void two_level_scales(const QuantSpec& spec, const Extent* blocks, int64_t count,
                      const Extent* matrices, int64_t blocks_per_matrix, Scale* scales,
                      Stream stream) {
  two_level_kernel<<<blocks_for(count, kTeamThreads), kTeamThreads, 0,
                     static_cast<cudaStream_t>(stream)>>>(spec.format->element, blocks, count,
                                                          matrices, blocks_per_matrix, scales);
  check_launch("two_level_scales");
}

void apply_scales(const QuantSpec& spec, MatricesShape shape, const Scale* scales, ScaleIndex index,
                  const QuantizeBuffers& buffers, Stream stream) {
  const int64_t lines = shape.matrices * (shape.lie == Lie::Rows ? shape.rows : shape.length);
  const Vectors vectors = vectors_of(spec, shape, index);
  const quant::Extent unclipped = quant::unclipped(spec.format->element);
  with_real(buffers.in_type, [&](auto in) {
    with_real(buffers.out_type, [&](auto out) {
      with_quantizer(spec.format->element, [&](auto quantizer) {
        using In = decltype(in);
        using Out = decltype(out);
        if (vectors.count > 0) {
          apply_to_vectors<In, Out, decltype(quantizer)>
              <<<blocks_for(vectors.count, kTeamThreads), kTeamThreads, 0,
                 static_cast<cudaStream_t>(stream)>>>(
                  quantizer, unclipped, vectors.shape, scales, vectors.index, vectors.count,
                  static_cast<const In*>(buffers.in), static_cast<Out*>(buffers.out),
                  buffers.inside, buffers.not_finite, buffers.result);
          return;
        }
        apply_kernel<In, Out, decltype(quantizer)>
            <<<blocks_for(lines * 32, kTeamThreads), kTeamThreads, 0,
               static_cast<cudaStream_t>(stream)>>>(
                quantizer, unclipped, shape, Window{spec.window, spec.has_scale_codes()}, scales,
                index, static_cast<const In*>(buffers.in), static_cast<Out*>(buffers.out),
                buffers.inside, buffers.not_finite, buffers.result);
      });
    });
  });
  check_launch("apply_scales");
}

}  // namespace driftless::lab::cuda
