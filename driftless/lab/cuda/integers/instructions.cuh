// SPDX-License-Identifier: Apache-2.0
// Instructions of a GPU that C++ has no name for. Compiled for a CPU, as the tests do, they are
// functions of the emulator.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace driftless::lab::cuda {

/// The part of a 16 x 8 tile of sums that a lane of a warp holds: rows lane / 4 and 8 below it,
/// columns 2 (lane % 4) and the next.
struct TileSums {
  int32_t row[2][2];
};
/// 16 rows of 32 bytes: of rows lane / 4 and 8 below it the bytes from 4 (lane % 4), and those 16
/// further.
struct LeftTile {
  uint32_t row[2][2];  ///< [row][half]
};
/// 8 rows of 32 bytes: of row lane / 4 the same bytes.
struct RightTile {
  uint32_t half[2];
};

/// sums += left right^T, by a whole warp.
__device__ inline void multiply_add(TileSums& sums, const LeftTile& left, const RightTile& right) {
#ifdef __CUDACC__
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums.row[0][0]), "+r"(sums.row[0][1]), "+r"(sums.row[1][0]), "+r"(sums.row[1][1])
      : "r"(left.row[0][0]), "r"(left.row[1][0]), "r"(left.row[0][1]), "r"(left.row[1][1]),
        "r"(right.half[0]), "r"(right.half[1]));
#else
  emulated::multiply_add(sums.row, left.row, right.half);
#endif
}

/// Starts copying 16 bytes to shared memory.
__device__ inline void copy_ahead(int8_t* to, const int8_t* from) {
#ifdef __CUDACC__
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
#else
  for (int i = 0; i < 16; ++i) to[i] = from[i];
#endif
}

/// Ends a group of copies.
__device__ inline void end_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.commit_group;");
#endif
}

/// Waits until all but the last kLeft groups of this thread are there.
template <int kLeft>
__device__ void await_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

}  // namespace driftless::lab::cuda
