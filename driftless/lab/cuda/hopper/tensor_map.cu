// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <cuda_runtime.h>

#include "driftless/base/error.h"
#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/tensor_map.h"

namespace driftless::lab::cuda {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

// Asked of the driver when the program runs, so that it need not be linked.
Encode encode_function() {
  static const Encode kEncode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                               12000, cudaEnableDefault, &found);
    DRIFTLESS_REQUIRE(error == cudaSuccess && found == cudaDriverEntryPointSuccess,
                      ErrorCode::Unsupported,
                      "fused mixers: this driver has no tensor maps; expected one of CUDA 12; "
                      "DRIFTLESS_MIXERS=apart does without");
    return reinterpret_cast<Encode>(function);
  }();
  return kEncode;
}

}  // namespace

CUtensorMap tensor_map(const TiledTensor& tensor) {
  const auto size = [](int64_t value) { return static_cast<cuuint64_t>(value); };
  const std::array<cuuint64_t, 3> sizes = {size(tensor.columns), size(tensor.rows),
                                           size(tensor.batch)};
  const std::array<cuuint64_t, 2> strides = {2 * sizes[0], 2 * sizes[0] * sizes[1]};
  const std::array<cuuint32_t, 3> box = {kTileColumns, static_cast<cuuint32_t>(tensor.tile_rows),
                                         1};
  const std::array<cuuint32_t, 3> element_strides = {1, 1, 1};
  CUtensorMap map;
  const CUresult result = encode_function()(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, tensor.batch == 0 ? 2 : 3,
      const_cast<void*>(tensor.data), sizes.data(), strides.data(), box.data(),
      element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  DRIFTLESS_REQUIRE(result == CUDA_SUCCESS, ErrorCode::Internal, "fused mixers: a tensor of ",
                    tensor.rows, " rows and ", tensor.columns,
                    " columns has no map; got driver error ", static_cast<int>(result));
  return map;
}

int multiprocessors() {
  int device = 0;
  int count = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  DRIFTLESS_REQUIRE(error == cudaSuccess, ErrorCode::Internal,
                    "fused mixers: ", cudaGetErrorString(error));
  return count;
}

}  // namespace driftless::lab::cuda
