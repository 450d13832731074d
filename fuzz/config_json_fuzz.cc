// SPDX-License-Identifier: Apache-2.0
// A model's configuration from anywhere: either an Error, or one that survives being written and
// read again, with parameters that can be counted.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/model/config_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless::model;
  std::string text;
  try {
    text = config_to_json(config_from_json({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const driftless::Error&) {
    return 0;
  }
  if (config_to_json(config_from_json(text, "again")) != text) std::abort();
  return 0;
}
