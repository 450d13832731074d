// SPDX-License-Identifier: Apache-2.0
// A study's recipe from anywhere: an Error or a list of rows.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/study/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto recipe =
        driftless::study::parse_recipe({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (recipe.rows.empty()) std::abort();
  } catch (const driftless::Error&) {
  }
  return 0;
}
