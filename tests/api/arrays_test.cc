// SPDX-License-Identifier: Apache-2.0
// Number formats through the C interface, against the library's own quantizers.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/api/driftless_arrays.h"
#include "driftless/base/rng.h"
#include "driftless/formats/table.h"
#include "driftless/quant/codec.h"
#include "driftless/quant/quantizer.h"

#include "tests/api/last_error.h"

namespace driftless {
namespace {

using testing::last_error_has;

std::vector<float> gaussian(size_t count) {
  Rng rng(1);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.gaussian());
  return values;
}

TEST(CArrays, ListsEveryFormat) {
  const auto rows = formats::formats();
  ASSERT_EQ(driftless_format_count(), std::ssize(rows));
  for (int64_t i = 0; i < driftless_format_count(); ++i) {
    driftless_format format = {};
    ASSERT_EQ(driftless_format_at(i, &format), DRIFTLESS_OK);
    const formats::Format& row = rows[static_cast<size_t>(i)];
    EXPECT_EQ(format.name, row.name);
    EXPECT_EQ(format.bits, row.element.bits);
    EXPECT_EQ(format.block, row.block);
    EXPECT_EQ(format.max, row.element.max);
    EXPECT_EQ(format.smallest, row.element.smallest);
    EXPECT_EQ(format.bits_with_scale, formats::bits_per_element(row));
    EXPECT_EQ(std::string_view(format.scaling) == "none", row.scaling == formats::Scaling::None);
  }
  driftless_format format = {};
  EXPECT_EQ(driftless_format_at(-1, &format), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_format_at(driftless_format_count(), &format),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_format_at(0, nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CArrays, ListsEveryExponentRule) {
  const auto rules = formats::exponent_rules();
  for (size_t i = 0; i < rules.size(); ++i)
    EXPECT_EQ(driftless_exponent_rule(static_cast<int64_t>(i)), rules[i].name);
  EXPECT_EQ(driftless_exponent_rule(std::ssize(rules)), nullptr);
  EXPECT_EQ(driftless_exponent_rule(-1), nullptr);
}

TEST(CArrays, QuantizesAsTheQuantizer) {
  const std::vector<float> values = gaussian(3 * 97);
  for (const char* const text :
       {"mxint4", "mxint4,rule=mse", "nvfp4", "int4/group32", "int8/channel", "bf16", "none"}) {
    std::vector<float> expected(values.size());
    quant::Quantizer(quant::parse_quant_spec(text))
        .fake_quantize({values.data(), 3, 97}, {expected.data(), 3, 97});
    std::vector<float> out = values;
    ASSERT_EQ(driftless_quantize(text, out.data(), 3, 97, out.data()), DRIFTLESS_OK)
        << driftless_last_error();
    EXPECT_EQ(out, expected) << text;
  }
}

TEST(CArrays, InsideIsWhatIsNotClipped) {
  // One scale of 1 a block of mxint4 (values up to 1.75, steps of 0.25): clipped from 1.875 on.
  const float values[4] = {1.8f, 1.9f, -1.9f, 0.1f};
  uint8_t inside[4] = {};
  ASSERT_EQ(driftless_inside("mxint4", values, 1, 4, inside), DRIFTLESS_OK);
  EXPECT_EQ(std::vector<int>(inside, inside + 4), (std::vector<int>{1, 0, 0, 1}));
  ASSERT_EQ(driftless_inside("none", values, 1, 4, inside), DRIFTLESS_OK);
  EXPECT_EQ(std::vector<int>(inside, inside + 4), std::vector<int>(4, 1));
  EXPECT_EQ(driftless_inside("mxint4", values, 1, 4, nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_inside("mxint4", values, 1, -4, inside), DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CArrays, QuantizeSaysWhatIsWrong) {
  float value = 1;
  EXPECT_EQ(driftless_quantize("mxint44", &value, 1, 1, &value), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("mxint4"));
  EXPECT_EQ(driftless_quantize("int8/tensor/static", &value, 1, 1, &value),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{-1, 1}, {1, -1}, {1L << 40, 1L << 40}})
    EXPECT_EQ(driftless_quantize("mxint4", &value, rows, columns, &value),
              DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("shape"));
  EXPECT_EQ(driftless_quantize(nullptr, &value, 1, 1, &value), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_quantize("mxint4", nullptr, 1, 1, &value), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_quantize("mxint4", &value, 1, 1, nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_quantize("mxint4", nullptr, 0, 0, nullptr), DRIFTLESS_OK);
  value = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(driftless_quantize("mxint4", &value, 1, 1, &value), DRIFTLESS_ERROR_NUMERIC);
}

TEST(CArrays, EncodesAndDecodesAsTheCodec) {
  const std::vector<float> values = gaussian(45);
  for (const formats::Format& row : formats::formats()) {
    const std::string name(row.name);
    const quant::QuantSpec spec = quant::parse_codec_spec(name);
    const auto expected = quant::encode_bytes(spec, values);
    uint8_t* bytes = nullptr;
    size_t size = 0;
    ASSERT_EQ(driftless_encode(name.c_str(), values.data(), values.size(), &bytes, &size),
              DRIFTLESS_OK)
        << driftless_last_error();
    ASSERT_EQ(size, expected.size()) << name;
    EXPECT_EQ(std::memcmp(bytes, expected.data(), size), 0) << name;
    float* back = nullptr;
    size_t count = 0;
    ASSERT_EQ(driftless_decode(name.c_str(), bytes, size, &back, &count), DRIFTLESS_OK)
        << driftless_last_error();
    EXPECT_EQ(std::vector<float>(back, back + count), quant::decode_bytes(spec, expected)) << name;
    driftless_free_memory(bytes);
    driftless_free_memory(back);
  }
}

TEST(CArrays, CodecSaysWhatIsWrong) {
  const float value = std::numeric_limits<float>::infinity();
  uint8_t* bytes = nullptr;
  float* values = nullptr;
  size_t size = 0;
  EXPECT_EQ(driftless_encode("mxint4", &value, 1, &bytes, &size), DRIFTLESS_ERROR_NUMERIC);
  EXPECT_EQ(driftless_encode("int4/group32", &value, 1, &bytes, &size),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_encode("mxint4", nullptr, 1, &bytes, &size),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_encode(nullptr, &value, 1, &bytes, &size), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_encode("mxint4", &value, 1, nullptr, &size),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_encode("mxint4", &value, 1, &bytes, nullptr),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_encode("mxint4", &value, SIZE_MAX, &bytes, &size),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("more than memory can hold"));
  const uint8_t odd[3] = {};
  EXPECT_EQ(driftless_decode("mxint4", odd, 3, &values, &size), DRIFTLESS_ERROR_BAD_FILE);
  EXPECT_EQ(driftless_decode("mxint4", nullptr, 3, &values, &size),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_decode("mxint4", odd, 3, nullptr, &size), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_decode("mxint4", odd, SIZE_MAX, &values, &size),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CArrays, NamesQuantizersAndKernels) {
  char* text = nullptr;
  ASSERT_EQ(driftless_parse_quantizer("mxint4,rule=floor,block=32", &text), DRIFTLESS_OK);
  EXPECT_STREQ(text, "mxint4");
  driftless_free_memory(text);
  EXPECT_EQ(driftless_parse_quantizer("int4/grup32", &text), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_parse_quantizer(nullptr, &text), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  const char* name = nullptr;
  ASSERT_EQ(driftless_instruction_set(&name), DRIFTLESS_OK);
  EXPECT_GT(std::strlen(name), 0u);
  EXPECT_EQ(driftless_instruction_set(nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_api_version(), DRIFTLESS_API_VERSION);
}

}  // namespace
}  // namespace driftless
