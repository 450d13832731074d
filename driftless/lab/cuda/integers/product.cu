// SPDX-License-Identifier: Apache-2.0
// Products of integers on tensor cores. Sums are exact, so the order of a tile's instructions does
// not show. A block of four warps makes 128 x 128 sums, each warp 64 x 64; pieces of 32 bytes of
// the rows come ahead of their use.
#include "driftless/lab/cuda/integers/instructions.cuh"
#include "driftless/lab/cuda/integers/integers.h"
#include "driftless/lab/cuda/integers/one_value.cuh"
#include "driftless/lab/cuda/launch.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kTile = 128;  // rows of either factor
constexpr int kWarpTile = 64;
constexpr int kPiece = static_cast<int>(kIntegerStep);
// Rows of a piece lie so far apart that a warp's reads of eight of them meet all banks once.
constexpr int kPieceStride = kPiece + 16;
constexpr int kStages = 4;
constexpr int kLeftTiles = kWarpTile / 16;
constexpr int kRightTiles = kWarpTile / 8;

/// The pieces of both factors.
struct alignas(16) Stage {
  int8_t left[kTile * kPieceStride];
  int8_t right[kTile * kPieceStride];
};

/// One row of a tile a thread. Rows beyond the last are copies of it, whose sums nobody stores.
__device__ inline void load_row(const Integers& factor, int64_t first, int64_t piece,
                                int8_t* pieces) {
  const int64_t row = min(first + static_cast<int64_t>(threadIdx.x), factor.rows - 1);
  const int8_t* const from = factor.bytes + row * factor.stride + piece * kPiece;
  int8_t* const to = pieces + threadIdx.x * kPieceStride;
  copy_ahead(to, from);
  copy_ahead(to + 16, from + 16);
}

__device__ inline uint32_t word_at(const int8_t* bytes) {
  return *reinterpret_cast<const uint32_t*>(bytes);
}

/// A warp's 64 x 64 sums, as its lanes hold them.
struct WarpSums {
  TileSums tiles[kLeftTiles][kRightTiles];

  __device__ void add(const Stage& stage, int left_row, int right_row) {
    const int lane = threadIdx.x % 32;
    const int8_t* const left = stage.left + (left_row + lane / 4) * kPieceStride + lane % 4 * 4;
    const int8_t* const right = stage.right + (right_row + lane / 4) * kPieceStride + lane % 4 * 4;
    RightTile rights[kRightTiles];
#pragma unroll
    for (int j = 0; j < kRightTiles; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        rights[j].half[half] = word_at(right + j * 8 * kPieceStride + half * 16);
#pragma unroll
    for (int i = 0; i < kLeftTiles; ++i) {
      LeftTile tile;
#pragma unroll
      for (int row = 0; row < 2; ++row)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          tile.row[row][half] = word_at(left + (i * 16 + row * 8) * kPieceStride + half * 16);
#pragma unroll
      for (int j = 0; j < kRightTiles; ++j) multiply_add(tiles[i][j], tile, rights[j]);
    }
  }
};

/// Rows from the start of part `index` of so many.
__device__ inline Integers part_of(Integers factor, int64_t parts, int64_t index) {
  factor.rows /= parts;
  factor.bytes += index * factor.rows * factor.stride;
  return factor;
}

__host__ __device__ inline int64_t tiles_of(int64_t rows) { return (rows + kTile - 1) / kTile; }

/// Equal parts of both factors by each other: store(part, row, column, sums of that column and the
/// next), columns being even.
template <class Store>
__global__ void __launch_bounds__(kThreads)
    product_kernel(Integers all_left, Integers all_right, int64_t parts, Store store) {
  __shared__ Stage stages[kStages];
  const int64_t column_tiles = tiles_of(all_right.rows / parts);
  const int64_t tiles = tiles_of(all_left.rows / parts) * column_tiles;
  const int64_t part = blockIdx.x / tiles;
  const Integers left = part_of(all_left, parts, part);
  const Integers right = part_of(all_right, parts, part);
  const int64_t first_row = blockIdx.x % tiles / column_tiles * kTile;
  const int64_t first_column = blockIdx.x % column_tiles * kTile;
  const int64_t pieces = left.stride / kPiece;
  const auto load = [&](int64_t piece) {
    if (piece < pieces) {
      Stage& stage = stages[piece % kStages];
      load_row(left, first_row, piece, stage.left);
      load_row(right, first_column, piece, stage.right);
    }
    end_copies();
  };
  for (int piece = 0; piece < kStages - 1; ++piece) load(piece);
  const int warp = threadIdx.x / 32;
  const int left_row = warp / 2 * kWarpTile;
  const int right_row = warp % 2 * kWarpTile;
  WarpSums sums = {};
  for (int64_t piece = 0; piece < pieces; ++piece) {
    await_copies<kStages - 2>();
    __syncthreads();  // this piece is there for all, and all are done with the one before
    load(piece + kStages - 1);
    sums.add(stages[piece % kStages], left_row, right_row);
  }
  const int lane = threadIdx.x % 32;
  const int64_t row = first_row + left_row + lane / 4;
  const int64_t column = first_column + right_row + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kLeftTiles; ++i)
#pragma unroll
    for (int j = 0; j < kRightTiles; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int64_t at = row + i * 16 + half * 8;
        if (at < left.rows && column + j * 8 < right.rows)
          store(part, at, column + j * 8, sums.tiles[i][j].row[half]);
      }
}

/// What integers stand for, as integer::multiply_rows has it.
struct Units {
  const float* left;
  const float* right;
  __device__ float value(int64_t row, int64_t column, int32_t sum) const {
    return static_cast<float>(sum) * (left[row] * right[column]);
  }
};

struct StoreSwiglu {
  Units units;
  int64_t half;
  float* act;
  __device__ void operator()(int64_t /*part*/, int64_t row, int64_t column,
                             const int32_t* sums) const {
    const float gate = units.value(row, column, sums[0]);
    const float up = units.value(row, column + 1, sums[1]);
    act[row * half + column / 2] = silu(gate) * up;
  }
};

/// Both sums where the last column is even.
template <class Use>
__device__ void each_column(int64_t column, int64_t columns, Use use) {
  for (int i = 0; i < 2 && column + i < columns; ++i) use(i, column + i);
}

/// `matrix_rows` rows at a time are stored as matrices of columns, or all rows as they are.
struct StoreValues {
  Units units;
  int64_t columns;
  int64_t matrix_rows;  // 0: rows as they are
  float* out;
  __device__ void operator()(int64_t /*part*/, int64_t row, int64_t column,
                             const int32_t* sums) const {
    each_column(column, columns,
                [&](int i, int64_t at) { out[place(row, at)] = units.value(row, at, sums[i]); });
  }
  __device__ int64_t place(int64_t row, int64_t column) const {
    if (matrix_rows == 0) return row * columns + column;
    return (row / matrix_rows * columns + column) * matrix_rows + row % matrix_rows;
  }
};

/// One result after the other.
struct StoreParts {
  Units units;
  int64_t rows, columns;  // of a part
  float* out;
  __device__ void operator()(int64_t part, int64_t row, int64_t column, const int32_t* sums) const {
    each_column(column, columns, [&](int i, int64_t at) {
      out[(part * rows + row) * columns + at] =
          units.value(part * rows + row, part * columns + at, sums[i]);
    });
  }
};

/// Parts [boards, heads], of which the heads' results lie side by side. What the left bytes lack of
/// the shares is 128, so that sums lack 128 times the right row's.
struct StoreShares {
  Units units;
  const int32_t* right_sums;
  int64_t heads;
  int64_t rows, columns;  // of a part
  float* out;
  __device__ void operator()(int64_t part, int64_t row, int64_t column, const int32_t* sums) const {
    each_column(column, columns, [&](int i, int64_t at) {
      const int64_t place = ((part / heads * rows + row) * heads + part % heads) * columns + at;
      const int64_t right_row = part * columns + at;
      out[place] = units.value(part * rows + row, right_row, sums[i] + 128 * right_sums[right_row]);
    });
  }
};

template <class Store>
void run(const char* name, const Integers& left, const Integers& right, int64_t parts,
         const Store& store, Stream stream) {
  const int64_t tiles = tiles_of(left.rows / parts) * tiles_of(right.rows / parts);
  start(name, product_kernel<Store>, parts * tiles, kThreads, stream, left, right, parts, store);
}

}  // namespace

void multiply_swiglu(const Integers& left, const Integers& right, float* act, Stream stream) {
  run("multiply_swiglu", left, right, 1,
      StoreSwiglu{{left.units, right.units}, right.rows / 2, act}, stream);
}

void multiply(const Integers& left, const Integers& right, float* out, Stream stream) {
  run("multiply", left, right, 1, StoreValues{{left.units, right.units}, right.rows, 0, out},
      stream);
}

void multiply_transposed(const Integers& left, const Integers& right, int64_t matrix_rows,
                         float* out, Stream stream) {
  run("multiply_transposed", left, right, 1,
      StoreValues{{left.units, right.units}, right.rows, matrix_rows, out}, stream);
}

void multiply_parts(const Integers& left, const Integers& right, int64_t matrices, float* out,
                    Stream stream) {
  run("multiply_parts", left, right, matrices,
      StoreParts{{left.units, right.units}, left.rows / matrices, right.rows / matrices, out},
      stream);
}

void multiply_shares(const Integers& shares, const Integers& right, const int32_t* right_sums,
                     int64_t boards, int64_t heads, float* out, Stream stream) {
  const int64_t parts = boards * heads;
  run("multiply_shares", shares, right, parts,
      StoreShares{{shares.units, right.units},
                  right_sums,
                  heads,
                  shares.rows / parts,
                  right.rows / parts,
                  out},
      stream);
}

}  // namespace driftless::lab::cuda
