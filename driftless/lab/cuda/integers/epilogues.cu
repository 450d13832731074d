// SPDX-License-Identifier: Apache-2.0
// What the native engine computes between products, in the order of loop/kernels/epilogues.h, on
// which the bits of sums depend.
#include "driftless/lab/cuda/integers/integers.h"
#include "driftless/lab/cuda/integers/one_value.cuh"
#include "driftless/lab/cuda/launch.cuh"
#include "driftless/lab/cuda/reduce.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kLanes = 16;  // sums that run side by side along a row

__device__ inline float inverse_root(float squares, int64_t count, float eps) {
  return __fdiv_rn(1.0f, __fsqrt_rn(__fdiv_rn(squares, static_cast<float>(count)) + eps));
}

/// kLanes threads a row of channels.
__global__ void norm_rows(int64_t rows, int64_t width, const float* h, const float* y, float eps,
                          float* out) {
  const int64_t id = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = id / kLanes;
  const int64_t first = min(row, rows - 1) * width;  // whole warps take part in the sum
  float squares = 0;
  for (int64_t i = id % kLanes; i < width; i += kLanes) {
    const float sum = h[first + i] + y[first + i];
    squares += sum * sum;
  }
  squares = team_reduce(squares, kLanes, Sum());
  if (row >= rows) return;
  const float scale = inverse_root(squares, width, eps);
  for (int64_t i = id % kLanes; i < width; i += kLanes)
    out[first + i] = (h[first + i] + y[first + i]) * scale;
}

/// One thread a channel of a board.
__global__ void norm_columns(StateShape shape, const float* h, const float* y, float eps,
                             float* out) {
  const int64_t id = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (id >= shape.batch * shape.width) return;
  const int64_t first = id / shape.width * shape.positions * shape.width + id % shape.width;
  float squares = 0;
  for (int64_t i = 0; i < shape.positions; ++i) {
    const int64_t at = first + i * shape.width;
    const float sum = h[at] + y[at];
    squares += sum * sum;
  }
  const float scale = inverse_root(squares, shape.positions, eps);
  for (int64_t i = 0; i < shape.positions; ++i) {
    const int64_t at = first + i * shape.width;
    out[at] = (h[at] + y[at]) * scale;
  }
}

/// One warp a row of scores.
__global__ void share_rows(const float* scores, int64_t length, float scale, Integers out) {
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarp;
  if (row >= out.rows) return;
  const int lane = threadIdx.x % kWarp;
  const float* const of_row = scores + row * length;
  float top = of_row[0];
  float largest = fabsf(top);
  for (int64_t i = lane; i < length; i += kWarp) {
    top = fmaxf(top, of_row[i]);
    largest = Larger()(largest, fabsf(of_row[i]));
  }
  const auto higher = [](float a, float b) { return fmaxf(a, b); };
  top = team_reduce(top, kWarp, higher) * scale;
  const bool is_finite = team_reduce(largest, kWarp, Larger()) * scale < INFINITY;
  int32_t sum = 0;
  for (int64_t i = lane; i < out.stride; i += kWarp) {
    const int32_t code = is_finite && i < length ? share_code(of_row[i] * scale - top) : 0;
    sum += code;
    // What fills the row counts for nothing: the other factor is zero there.
    out.bytes[row * out.stride + i] = static_cast<int8_t>(code - 128);
  }
  sum = team_reduce(sum, kWarp, Sum());
  if (lane == 0) out.units[row] = __fdiv_rn(1.0f, static_cast<float>(sum));
}

__global__ void sum_bytes(Integers rows, int32_t* sums) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows.rows) return;
  int32_t sum = 0;
  for (int64_t i = 0; i < rows.stride; ++i) sum += rows.bytes[row * rows.stride + i];
  sums[row] = sum;
}

/// One thread a pair of values.
__global__ void turn_pairs(RopeShape shape, const float* cos, const float* sin, float* values) {
  const int64_t id = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t pairs = shape.turned * shape.half;
  if (id >= shape.rows * pairs) return;
  const int64_t row = id / pairs;
  const int64_t segment = id % pairs / shape.half;
  const int64_t i = id % shape.half;
  const int64_t angle =
      (row % shape.positions * shape.segments + segment % shape.segments) * shape.half + i;
  float* const at = values + row * shape.row_stride + segment * 2 * shape.half + i;
  const float first = at[0];
  const float second = at[shape.half];
  at[0] = first * cos[angle] - second * sin[angle];
  at[shape.half] = second * cos[angle] + first * sin[angle];
}

/// One thread an output of a row.
__global__ void in_order(HeadShape shape, const float* in, const float* weight, float* out) {
  const int64_t id = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (id >= shape.rows * shape.outputs) return;
  const float* const row = in + id / shape.outputs * shape.inputs;
  const float* const column = weight + id % shape.outputs;
  float sum = 0;
  for (int64_t i = 0; i < shape.inputs; ++i)
    sum = __fmaf_rn(row[i], column[i * shape.outputs], sum);
  out[id] = sum;
}

__global__ void in_double(HeadShape shape, const float* in, const float* weight, const float* bias,
                          float* out) {
  const int64_t id = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (id >= shape.rows * shape.outputs) return;
  const float* const row = in + id / shape.outputs * shape.inputs;
  const int64_t output = id % shape.outputs;
  double sum = bias[output];
  for (int64_t i = 0; i < shape.inputs; ++i)
    sum += static_cast<double>(weight[output * shape.inputs + i]) * row[i];
  out[id] = static_cast<float>(sum);
}

}  // namespace

void add_norm(NormAxis axis, StateShape shape, const float* h, const float* y, float eps,
              float* out, Stream stream) {
  if (axis == NormAxis::Channels) {
    const int64_t rows = shape.batch * shape.positions;
    start("add_norm", norm_rows, blocks_for(rows * kLanes, kThreads), kThreads, stream, rows,
          shape.width, h, y, eps, out);
    return;
  }
  start("add_norm", norm_columns, blocks_for(shape.batch * shape.width, kThreads), kThreads, stream,
        shape, h, y, eps, out);
}

void share(const float* scores, int64_t length, float scale, const Integers& out, Stream stream) {
  start("share", share_rows, blocks_for(out.rows * kWarp, kThreads), kThreads, stream, scores,
        length, scale, out);
}

void sum_rows(const Integers& rows, int32_t* sums, Stream stream) {
  start("sum_rows", sum_bytes, blocks_for(rows.rows, kThreads), kThreads, stream, rows, sums);
}

void turn(RopeShape shape, const float* cos, const float* sin, float* values, Stream stream) {
  const int64_t pairs = shape.rows * shape.turned * shape.half;
  if (pairs == 0) return;
  start("turn", turn_pairs, blocks_for(pairs, kThreads), kThreads, stream, shape, cos, sin, values);
}

void multiply_in_order(HeadShape shape, const float* in, const float* weight, float* out,
                       Stream stream) {
  start("multiply_in_order", in_order, blocks_for(shape.rows * shape.outputs, kThreads), kThreads,
        stream, shape, in, weight, out);
}

void multiply_in_double(HeadShape shape, const float* in, const float* weight, const float* bias,
                        float* out, Stream stream) {
  start("multiply_in_double", in_double, blocks_for(shape.rows * shape.outputs, kThreads), kThreads,
        stream, shape, in, weight, bias, out);
}

}  // namespace driftless::lab::cuda
