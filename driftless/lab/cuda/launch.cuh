// SPDX-License-Identifier: Apache-2.0
// Starting kernels, and seeing that they started.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "driftless/base/error.h"
#include "driftless/lab/cuda/kernels.h"

namespace driftless::lab::cuda {

inline void check_launch(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  DRIFTLESS_REQUIRE(error == cudaSuccess, ErrorCode::Internal, kernel, ": launch failed; got ",
                    cudaGetErrorString(error));
}

inline unsigned blocks_for(int64_t items, int64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

/// Runs a kernel whose blocks take no shared memory but what they declare. Compiled for a CPU, as
/// the tests do, it is run there.
template <class... Parameters, class... Arguments>
void start(const char* name, void (*kernel)(Parameters...), int64_t blocks, int threads,
           Stream stream, Arguments... arguments) {
#ifdef __CUDACC__
  kernel<<<static_cast<unsigned>(blocks), threads, 0, static_cast<cudaStream_t>(stream)>>>(
      arguments...);
#else
  emulated::run(static_cast<unsigned>(blocks), static_cast<unsigned>(threads),
                [=] { kernel(arguments...); });
  static_cast<void>(stream);
#endif
  check_launch(name);
}

}  // namespace driftless::lab::cuda
