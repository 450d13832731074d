// SPDX-License-Identifier: Apache-2.0
// A plan from anywhere: either an Error, or one that survives being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/quant/plan/plan_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless::quant;
  std::string text;
  try {
    text = plan_to_json(plan_from_json({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const driftless::Error&) {
    return 0;
  }
  if (plan_to_json(plan_from_json(text, "again")) != text) std::abort();
  return 0;
}
