// SPDX-License-Identifier: Apache-2.0
// Describes bfloat16 tensors in device memory to Hopper's copy engine.
#pragma once

#include <cstdint>

#include <cuda.h>

namespace driftless::lab::cuda {

/// A contiguous [batch, rows, columns] tensor and how many rows of 64 columns one copy takes. With
/// a batch of 0 it has two axes. Columns are a multiple of 8, the address of 16.
struct TiledTensor {
  const void* data;
  int64_t batch;
  int64_t rows;
  int64_t columns;
  int64_t tile_rows;
};

/// Throws Unsupported where the driver knows no such copies, Internal where it refuses the tensor.
CUtensorMap tensor_map(const TiledTensor& tensor);

/// Multiprocessors of the current device. Throws Internal.
int multiprocessors();

}  // namespace driftless::lab::cuda
