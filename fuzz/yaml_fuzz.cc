// SPDX-License-Identifier: Apache-2.0
// all_config.yaml from anywhere: an Error or a flat list of keys. What is read without yaml-cpp is
// what yaml-cpp reads.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/store/torch/plain_yaml.h"

namespace {

template <class Parse>
std::optional<driftless::store::FlatConfig> parsed(Parse parse, std::string_view text) {
  try {
    return parse(text, "fuzz");
  } catch (const driftless::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = parsed(driftless::store::parse_yaml, text);
  const auto plain = parsed(driftless::store::parse_plain_yaml, text);
  if (plain && plain != whole) std::abort();
  return 0;
}
