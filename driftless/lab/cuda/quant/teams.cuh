// SPDX-License-Identifier: Apache-2.0
// Who reads which values: a team of 1 or 32 lanes takes one run, a stretch of a row that shares a
// scale. Where rows lie along memory a warp reads a run together; where columns do, neighboring
// threads take neighboring rows.
#pragma once

#include "driftless/lab/cuda/quant/quantize.h"
#include "driftless/lab/cuda/reduce.cuh"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {

constexpr int kTeamThreads = 256;

/// Values that a thread of the quantizers holds.
constexpr int kVector = 8;

/// 8 values, 16-byte pieces at a time.
__device__ inline void load_vector(const __nv_bfloat16* from, float* x) {
  const Vec<__nv_bfloat16> vec = load(from);
#pragma unroll
  for (int i = 0; i < kVector; ++i) x[i] = vec.x[i];
}
__device__ inline void load_vector(const float* from, float* x) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Vec<float> vec = load(from + 4 * half);
#pragma unroll
    for (int i = 0; i < 4; ++i) x[4 * half + i] = vec.x[i];
  }
}
__device__ inline void store_vector(__nv_bfloat16* to, const float* x) {
  Vec<__nv_bfloat16> vec;
#pragma unroll
  for (int i = 0; i < kVector; ++i) vec.x[i] = x[i];
  store(to, vec);
}
__device__ inline void store_vector(float* to, const float* x) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Vec<float> vec;
#pragma unroll
    for (int i = 0; i < 4; ++i) vec.x[i] = x[4 * half + i];
    store(to + 4 * half, vec);
  }
}

/// `length` values, the i-th at first + i * stride.
struct Run {
  int64_t first;
  int64_t stride;
  int64_t length;
  int64_t index;  ///< by [matrix, row, group]
};

/// Which run has the number `id` in the order of memory.
__device__ inline Run find_run(const MatricesShape& shape, int64_t group, int64_t id) {
  const int64_t groups = (shape.length + group - 1) / group;
  const bool has_rows = shape.lie == Lie::Rows;
  const int64_t inner = has_rows ? groups : shape.rows;
  const int64_t in_matrix = id % (groups * shape.rows);
  const int64_t matrix = id / (groups * shape.rows);
  const int64_t row = has_rows ? in_matrix / inner : in_matrix % inner;
  const int64_t part = has_rows ? in_matrix % inner : in_matrix / inner;
  const int64_t begin = matrix * shape.rows * shape.length;
  const int64_t column = part * group;
  const int64_t length = min(group, shape.length - column);
  const int64_t index = (matrix * shape.rows + row) * groups + part;
  if (has_rows) return {begin + row * shape.length + column, 1, length, index};
  return {begin + column * shape.rows + row, shape.rows, length, index};
}

inline int64_t run_count(const MatricesShape& shape, int64_t group) {
  return shape.matrices * shape.rows * ((shape.length + group - 1) / group);
}

/// The largest, the sum and the least over the lanes of a team; `lanes` is a power of two.
__device__ inline uint32_t team_max(uint32_t value, int lanes) {
  return team_reduce(value, lanes, [](uint32_t a, uint32_t b) { return max(a, b); });
}
__device__ inline uint32_t team_sum(uint32_t value, int lanes) {
  return team_reduce(value, lanes, Sum());
}
__device__ inline float team_least(float value, int lanes) {
  return team_reduce(value, lanes, [](float a, float b) { return fminf(a, b); });
}

}  // namespace driftless::lab::cuda
