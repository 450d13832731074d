// SPDX-License-Identifier: Apache-2.0
// The reader of packed models on arbitrary bytes: an Error or a model whose weights decode.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/store/packed_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const driftless::store::Safetensors file({bytes.begin(), bytes.end()}, "fuzz");
    for (const auto& [name, weight] : driftless::store::parse_packed(file).weights)
      (void)driftless::store::decoded(weight);
  } catch (const driftless::Error&) {
  }
  return 0;
}
