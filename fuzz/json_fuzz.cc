// SPDX-License-Identifier: Apache-2.0
// Strict JSON from anywhere: either an Error, or a value that is written and read again as itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/text/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nlohmann::json value;
  try {
    value = driftless::parse_json(text, "fuzz");
  } catch (const driftless::Error&) {
    return 0;
  }
  if (driftless::parse_json(value.dump(), "again") != value) std::abort();
  return 0;
}
