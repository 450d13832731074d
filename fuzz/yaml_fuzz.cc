// SPDX-License-Identifier: Apache-2.0
// all_config.yaml from anywhere: an Error or a flat list of keys.
#include <cstdint>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/store/torch/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    (void)driftless::store::parse_yaml({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const driftless::Error&) {
  }
  return 0;
}
