// SPDX-License-Identifier: Apache-2.0
// The safetensors reader on arbitrary bytes: an Error or views inside the file.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/store/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const driftless::store::Safetensors file({bytes.begin(), bytes.end()}, "fuzz");
    size_t covered = 0;
    for (const auto& [name, view] : file.tensors()) {
      // Reads every byte, so that a view outside the file is seen by the sanitizer.
      volatile unsigned sum = 0;
      for (const std::byte byte : view.bytes) sum = sum + static_cast<unsigned>(byte);
      covered += view.bytes.size();
    }
    if (covered > size) __builtin_trap();
  } catch (const driftless::Error&) {
  }
  return 0;
}
