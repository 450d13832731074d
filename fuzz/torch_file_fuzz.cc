// SPDX-License-Identifier: Apache-2.0
// A PyTorch archive from anywhere: an Error or tensors that lie within it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "driftless/base/error.h"
#include "driftless/store/torch/torch_file.h"

#include "fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const driftless::fuzz::MemoryFile file(data, size);
  try {
    (void)driftless::store::read_torch(file.path());
  } catch (const driftless::Error&) {
  }
  return 0;
}
