// SPDX-License-Identifier: Apache-2.0
// Rotary positions in place: one thread per pair of values, neighboring threads on neighboring
// values.
#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void rotate_pairs(RopeShape shape, float sign, const float* cos, const float* sin,
                             T* values) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t pairs = shape.turned / 2;
  const int64_t row = index / pairs;
  if (row >= shape.rows) return;
  const int64_t pair = index % pairs;
  const int64_t segment = pair / shape.half;
  const int64_t i = pair % shape.half;
  const int64_t angle =
      (row % shape.positions * shape.segments + segment % shape.segments) * shape.half + i;
  T* const first = values + row * shape.row_stride + segment * 2 * shape.half + i;
  T* const second = first + shape.half;
  const float a = static_cast<float>(*first);
  const float b = static_cast<float>(*second);
  const float c = cos[angle];
  const float s = sign * sin[angle];
  *first = static_cast<T>(a * c - b * s);
  *second = static_cast<T>(b * c + a * s);
}

template <class T>
void launch(RopeShape shape, float sign, const float* cos, const float* sin, void* values,
            Stream stream) {
  rotate_pairs<<<blocks_for(shape.rows * (shape.turned / 2), kThreads), kThreads, 0,
                 static_cast<cudaStream_t>(stream)>>>(shape, sign, cos, sin,
                                                      static_cast<T*>(values));
}

}  // namespace

void rotate(Real type, RopeShape shape, float sign, const float* cos, const float* sin,
            void* values, Stream stream) {
  (type == Real::Float32 ? launch<float> : launch<__nv_bfloat16>)(shape, sign, cos, sin, values,
                                                                  stream);
  check_launch("rotate");
}

}  // namespace driftless::lab::cuda
