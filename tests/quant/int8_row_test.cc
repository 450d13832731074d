// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/int8_row.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/quant/quantizer.h"

#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

TEST(Int8Row, IsTheQuantizersInt8PerToken) {
  const Quantizer quantizer(parse_quant_spec("int8/token"));
  for (const int64_t count : {1, 15, 16, 17, 48, 97}) {
    std::vector<std::vector<float>> rows = {testing::awkward_values(count, 3),
                                            std::vector<float>(static_cast<size_t>(count))};
    rows.push_back(rows[0]);
    for (float& value : rows.back()) value = std::fmod(value, 2.0f);
    rows.push_back(rows.back());
    rows.back()[0] = 127.0f;  // Scale 1: halves are ties.
    for (float& value : rows.back()) value = std::round(2 * value) / 2;
    for (const auto& row : rows) {
      const QuantizedMatrix expected = quantizer.quantize({row.data(), 1, count});
      std::vector<int8_t> codes(row.size());
      EXPECT_EQ(encode_int8_row(row, codes), expected.scales.floats[0].scale);
      for (size_t i = 0; i < codes.size(); ++i)
        EXPECT_EQ(static_cast<uint8_t>(codes[i]), expected.codes[i]) << row[i];
    }
  }
}

TEST(Int8Row, ReturnsZeroForWhatIsNotFinite) {
  std::vector<int8_t> codes(3);
  EXPECT_EQ(encode_int8_row(std::vector<float>{1, NAN, 2}, codes), 0.0f);
  EXPECT_EQ(encode_int8_row(std::vector<float>{1, 2, -INFINITY}, codes), 0.0f);
}

}  // namespace
}  // namespace driftless::quant
