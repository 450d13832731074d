// SPDX-License-Identifier: Apache-2.0
// The safetensors reader on arbitrary bytes: an Error or views inside the file, where a second
// reader of a few lines, which trusts the header, finds them too.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/store/safetensors.h"

namespace {

/// Whether the view is where the header of an accepted file says.
bool is_where_stated(const uint8_t* data, const std::string& name,
                     std::span<const std::byte> view) {
  uint64_t length = 0;
  std::memcpy(&length, data, sizeof(length));
  const auto header = nlohmann::json::parse(data + sizeof(length), data + sizeof(length) + length);
  const auto& place = header.at(name).at("data_offsets");
  const size_t first = place.at(0), last = place.at(1);
  return view.size() == last - first &&
         std::memcmp(view.data(), data + sizeof(length) + length + first, view.size()) == 0;
}

}  // namespace

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
      if (!view.bytes.empty() && !is_where_stated(data, name, view.bytes)) __builtin_trap();
    }
    if (covered > size) __builtin_trap();
  } catch (const driftless::Error&) {
  }
  return 0;
}
