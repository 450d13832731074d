// SPDX-License-Identifier: Apache-2.0
// Any bytes decode under any format to finite values or an Error, and values that decode encode
// again. The first byte picks the format.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "driftless/base/error.h"
#include "driftless/formats/table.h"
#include "driftless/quant/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto formats = driftless::formats::formats();
  const auto spec = driftless::quant::parse_codec_spec(formats[data[0] % formats.size()].name);
  try {
    const auto values =
        driftless::quant::decode_bytes(spec, std::as_bytes(std::span(data + 1, size - 1)));
    for (const float value : values) {
      if (!std::isfinite(value)) std::abort();
    }
    (void)driftless::quant::encode_bytes(spec, values);
  } catch (const driftless::Error&) {
  }
  return 0;
}
