// SPDX-License-Identifier: Apache-2.0
// Residual addition with RMS normalization, forward and backward, over either axis of the state.
//
// A block owns whole normalized vectors, so each runs in two passes over the same elements by the
// same threads: the first reduces, the second scales. The second finds its data in cache.
//   Channels: one warp per (board, position); lanes walk the width.
//   Tokens:   a block is 32 lanes x 16 rows over one board; lanes own 16-byte columns of the width,
//             rows walk the positions and are reduced through shared memory.
#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/reduce.cuh"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kWarps = 8;
constexpr int kRows = 16;

__device__ float warp_sum(float value) { return team_reduce(value, kLanes, Sum()); }

template <class T>
__device__ Vec<T> rounded_sum(const T* a, const T* b) {
  Vec<T> sum = load(a);
  const Vec<T> other = load(b);
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) sum.x[i] = round_to(sum.x[i] + other.x[i], T{});
  return sum;
}

template <class T>
__device__ Vec<T> norm_gradient(const Vec<T>& d_y, const Vec<T>& y, const float* scale,
                                const float* mean, int step) {
  Vec<T> out;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i)
    out.x[i] = scale[i * step] * (d_y.x[i] - y.x[i] * mean[i * step]);
  return out;
}

template <class T>
__global__ void forward_channels(StateShape shape, const T* h, const T* update, float eps, T* y,
                                 float* scale) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.y;
  if (row >= shape.batch * shape.positions) return;
  const int64_t begin = row * shape.width;
  float squares = 0.0f;
  for (int64_t c = threadIdx.x * Vec<T>::kLength; c < shape.width; c += kLanes * Vec<T>::kLength) {
    const Vec<T> s = rounded_sum(h + begin + c, update + begin + c);
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) squares += s.x[i] * s.x[i];
  }
  const float r = rsqrtf(warp_sum(squares) / static_cast<float>(shape.width) + eps);
  if (threadIdx.x == 0) scale[row] = r;
  for (int64_t c = threadIdx.x * Vec<T>::kLength; c < shape.width; c += kLanes * Vec<T>::kLength) {
    Vec<T> s = rounded_sum(h + begin + c, update + begin + c);
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) s.x[i] *= r;
    store(y + begin + c, s);
  }
}

template <class T>
__global__ void backward_channels(StateShape shape, const T* d_y, const T* y, const float* scale,
                                  T* d_s) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.y;
  if (row >= shape.batch * shape.positions) return;
  const int64_t begin = row * shape.width;
  float dot = 0.0f;
  for (int64_t c = threadIdx.x * Vec<T>::kLength; c < shape.width; c += kLanes * Vec<T>::kLength) {
    const Vec<T> d = load(d_y + begin + c);
    const Vec<T> out = load(y + begin + c);
#pragma unroll
    for (int i = 0; i < Vec<T>::kLength; ++i) dot += d.x[i] * out.x[i];
  }
  const float mean = warp_sum(dot) / static_cast<float>(shape.width);
  const float r = scale[row];
  for (int64_t c = threadIdx.x * Vec<T>::kLength; c < shape.width; c += kLanes * Vec<T>::kLength)
    store(d_s + begin + c, norm_gradient(load(d_y + begin + c), load(y + begin + c), &r, &mean, 0));
}

// Sums each lane's vector over the kRows rows of the block and gives every row the totals.
template <class T>
__device__ void sum_over_rows(float (&partial)[Vec<T>::kLength], float* shared) {
  constexpr int kLength = Vec<T>::kLength;
#pragma unroll
  for (int i = 0; i < kLength; ++i)
    shared[(threadIdx.y * kLength + i) * kLanes + threadIdx.x] = partial[i];
  __syncthreads();
  for (int step = kRows / 2; step > 0; step /= 2) {
    if (threadIdx.y < step)
#pragma unroll
      for (int i = 0; i < kLength; ++i)
        shared[(threadIdx.y * kLength + i) * kLanes + threadIdx.x] +=
            shared[((threadIdx.y + step) * kLength + i) * kLanes + threadIdx.x];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kLength; ++i) partial[i] = shared[i * kLanes + threadIdx.x];
}

template <class T>
__global__ void forward_tokens(StateShape shape, const T* h, const T* update, float eps, T* y,
                               float* scale) {
  constexpr int kLength = Vec<T>::kLength;
  __shared__ float shared[kRows * kLength * kLanes];
  const int64_t column = (static_cast<int64_t>(blockIdx.y) * kLanes + threadIdx.x) * kLength;
  const bool is_inside = column < shape.width;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * shape.positions * shape.width + column;
  float squares[kLength] = {};
  for (int64_t t = threadIdx.y; is_inside && t < shape.positions; t += kRows) {
    const int64_t at = begin + t * shape.width;
    const Vec<T> s = rounded_sum(h + at, update + at);
#pragma unroll
    for (int i = 0; i < kLength; ++i) squares[i] += s.x[i] * s.x[i];
  }
  sum_over_rows<T>(squares, shared);
  if (!is_inside) return;
#pragma unroll
  for (int i = 0; i < kLength; ++i) {
    squares[i] = rsqrtf(squares[i] / static_cast<float>(shape.positions) + eps);
    if (threadIdx.y == 0) scale[blockIdx.x * shape.width + column + i] = squares[i];
  }
  for (int64_t t = threadIdx.y; t < shape.positions; t += kRows) {
    const int64_t at = begin + t * shape.width;
    Vec<T> s = rounded_sum(h + at, update + at);
#pragma unroll
    for (int i = 0; i < kLength; ++i) s.x[i] *= squares[i];
    store(y + at, s);
  }
}

template <class T>
__global__ void backward_tokens(StateShape shape, const T* d_y, const T* y, const float* scale,
                                T* d_s) {
  constexpr int kLength = Vec<T>::kLength;
  __shared__ float shared[kRows * kLength * kLanes];
  const int64_t column = (static_cast<int64_t>(blockIdx.y) * kLanes + threadIdx.x) * kLength;
  const bool is_inside = column < shape.width;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * shape.positions * shape.width + column;
  float mean[kLength] = {};
  for (int64_t t = threadIdx.y; is_inside && t < shape.positions; t += kRows) {
    const int64_t at = begin + t * shape.width;
    const Vec<T> d = load(d_y + at);
    const Vec<T> out = load(y + at);
#pragma unroll
    for (int i = 0; i < kLength; ++i) mean[i] += d.x[i] * out.x[i];
  }
  sum_over_rows<T>(mean, shared);
  if (!is_inside) return;
  float r[kLength];
#pragma unroll
  for (int i = 0; i < kLength; ++i) {
    mean[i] /= static_cast<float>(shape.positions);
    r[i] = scale[blockIdx.x * shape.width + column + i];
  }
  for (int64_t t = threadIdx.y; t < shape.positions; t += kRows) {
    const int64_t at = begin + t * shape.width;
    store(d_s + at, norm_gradient(load(d_y + at), load(y + at), r, mean, 1));
  }
}

template <class T>
dim3 grid_of(NormAxis axis, StateShape shape) {
  if (axis == NormAxis::Channels) return dim3(blocks_for(shape.batch * shape.positions, kWarps));
  return dim3(static_cast<unsigned>(shape.batch),
              blocks_for(shape.width, kLanes * Vec<T>::kLength));
}

dim3 block_of(NormAxis axis) { return dim3(kLanes, axis == NormAxis::Channels ? kWarps : kRows); }

template <class T>
void forward(NormAxis axis, StateShape shape, const void* h, const void* update, float eps, void* y,
             float* scale, Stream stream) {
  const auto kernel = axis == NormAxis::Channels ? forward_channels<T> : forward_tokens<T>;
  kernel<<<grid_of<T>(axis, shape), block_of(axis), 0, static_cast<cudaStream_t>(stream)>>>(
      shape, static_cast<const T*>(h), static_cast<const T*>(update), eps, static_cast<T*>(y),
      scale);
}

template <class T>
void backward(NormAxis axis, StateShape shape, const void* d_y, const void* y, const float* scale,
              void* d_s, Stream stream) {
  const auto kernel = axis == NormAxis::Channels ? backward_channels<T> : backward_tokens<T>;
  kernel<<<grid_of<T>(axis, shape), block_of(axis), 0, static_cast<cudaStream_t>(stream)>>>(
      shape, static_cast<const T*>(d_y), static_cast<const T*>(y), scale, static_cast<T*>(d_s));
}

}  // namespace

void residual_norm_forward(Real type, NormAxis axis, StateShape shape, const void* h,
                           const void* update, float eps, void* y, float* scale, Stream stream) {
  (type == Real::Float32 ? forward<float> : forward<__nv_bfloat16>)(axis, shape, h, update, eps, y,
                                                                    scale, stream);
  check_launch("residual_norm_forward");
}

void residual_norm_backward(Real type, NormAxis axis, StateShape shape, const void* d_y,
                            const void* y, const float* scale, void* d_s, Stream stream) {
  (type == Real::Float32 ? backward<float> : backward<__nv_bfloat16>)(axis, shape, d_y, y, scale,
                                                                      d_s, stream);
  check_launch("residual_norm_backward");
}

}  // namespace driftless::lab::cuda
