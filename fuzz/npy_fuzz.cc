// SPDX-License-Identifier: Apache-2.0
// The npy reader on arbitrary bytes: an Error or an array that fills the rest of the file.
#include <cstddef>
#include <cstdint>
#include <span>

#include "driftless/base/error.h"
#include "driftless/store/dataset/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless::store;
  try {
    const TensorView array = parse_npy(std::as_bytes(std::span(data, size)), "fuzz");
    const auto expected = byte_count(array.dtype, array.shape);
    if (!expected || static_cast<size_t>(*expected) != array.bytes.size()) __builtin_trap();
    if (array.dtype == DType::F32)
      to_float32(array, "fuzz");
    else
      to_integers(array, "fuzz");
  } catch (const driftless::Error&) {
  }
  return 0;
}
