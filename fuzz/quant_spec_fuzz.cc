// SPDX-License-Identifier: Apache-2.0
// Any text is a quantizer or an Error; a quantizer's canonical text means the same quantizer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/quant/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using driftless::quant::parse_quant_spec;
  try {
    const auto spec = parse_quant_spec({reinterpret_cast<const char*>(data), size});
    if (parse_quant_spec(to_string(spec)) != spec) std::abort();
  } catch (const driftless::Error&) {
  }
  return 0;
}
