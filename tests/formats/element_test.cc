// SPDX-License-Identifier: Apache-2.0
// Every code of every element format, against definitions written down here once more.
#include "driftless/formats/element.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/formats/table.h"

namespace driftless::formats {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Code and value of everything the format can store, in ascending order, negative zero left out.
struct Entry {
  float value;
  uint16_t code;
};
std::vector<Entry> entries_of(const Element& element) {
  std::vector<Entry> entries;
  for (uint32_t code = 0; code < (1u << element.bits); ++code) {
    const float value = element.decode(static_cast<uint16_t>(code));
    if (!std::isfinite(value) || value < element.min || value > element.max) continue;
    if (value == 0 && std::signbit(value)) continue;
    entries.push_back({value, static_cast<uint16_t>(code)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.value < b.value; });
  return entries;
}

class EveryFormat : public ::testing::TestWithParam<std::string> {
 protected:
  const Element element = format_by_name(GetParam()).element;
};

TEST_P(EveryFormat, DecodeThenEncodeIsTheIdentity) {
  for (uint32_t code = 0; code < (1u << element.bits); ++code) {
    const float value = element.decode(static_cast<uint16_t>(code));
    if (!std::isfinite(value) || value < element.min) continue;
    EXPECT_EQ(element.encode(value), code) << GetParam() << " code " << code;
  }
}

TEST_P(EveryFormat, ValuesAreDistinctAndWithinTheStatedRange) {
  const auto entries = entries_of(element);
  ASSERT_GE(entries.size(), 3u);
  EXPECT_EQ(entries.front().value, element.min);
  EXPECT_EQ(entries.back().value, element.max);
  for (size_t i = 1; i < entries.size(); ++i) EXPECT_LT(entries[i - 1].value, entries[i].value);
  const auto positive = std::find_if(entries.begin(), entries.end(),
                                     [](const Entry& entry) { return entry.value > 0; });
  EXPECT_EQ(positive->value, element.smallest);
}

TEST_P(EveryFormat, RoundsToNearestWithTiesToTheEvenCode) {
  const auto entries = entries_of(element);
  for (size_t i = 1; i < entries.size(); ++i) {
    const Entry& low = entries[i - 1];
    const Entry& high = entries[i];
    const float middle = low.value / 2 + high.value / 2;
    const uint16_t even = low.code % 2 == 0 ? low.code : high.code;
    const auto rounded = [&](float x) { return element.decode(element.encode(x)); };
    EXPECT_EQ(rounded(middle), element.decode(even)) << GetParam() << " at " << middle;
    EXPECT_EQ(rounded(std::nextafter(middle, -kInfinity)), low.value) << middle;
    EXPECT_EQ(rounded(std::nextafter(middle, kInfinity)), high.value) << middle;
  }
}

TEST_P(EveryFormat, Saturates) {
  const auto rounded = [&](float x) { return element.decode(element.encode(x)); };
  for (const float x : {std::nextafter(element.max, kInfinity), 2 * element.max, FLT_MAX}) {
    if (std::isfinite(x)) {
      EXPECT_EQ(rounded(x), element.max) << x;
    }
  }
  for (const float x : {std::nextafter(element.min, -kInfinity), 2 * element.min, -FLT_MAX}) {
    if (std::isfinite(x) && x < element.min) {
      EXPECT_EQ(rounded(x), element.min) << x;
    }
  }
}

TEST_P(EveryFormat, KeepsTheSignOfZeroWhereItSaysSo) {
  const float tiny = -element.smallest / 4;
  const float positive = std::max(element.min, 0.0f);  // Scales have no zero.
  const float negative = element.zero_sign == ZeroSign::Kept ? -0.0f : positive;
  EXPECT_TRUE(same_bits(element.decode(element.encode(-0.0f)), negative));
  EXPECT_TRUE(same_bits(element.decode(element.encode(tiny)), negative));
  EXPECT_TRUE(same_bits(element.decode(element.encode(0.0f)), positive));
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryFormat, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Grids, DescribeTheSpacing) {
  for (const Format& format : formats()) {
    const Element& element = format.element;
    if (element.spacing != Spacing::Grid) continue;
    const auto entries = entries_of(element);
    for (size_t i = 1; i < entries.size(); ++i) {
      if (entries[i - 1].value < 0) continue;
      const int octave =
          entries[i - 1].value == 0 ? element.min_exponent : std::ilogb(entries[i - 1].value);
      const int step = std::max(octave, element.min_exponent) - element.mantissa_bits;
      EXPECT_EQ(entries[i].value - entries[i - 1].value, std::ldexp(1.0f, step));
    }
  }
}

/// Layout of the minifloats, from the published definitions.
struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  float max;
};
const std::map<std::string_view, Layout> kLayouts = {
    {"fp4_e2m1", {2, 1, 1, 6}},         {"fp6_e2m3", {2, 3, 1, 7.5}},
    {"fp6_e3m2", {3, 2, 3, 28}},        {"fp8_e4m3", {4, 3, 7, 448}},
    {"fp8_e5m2", {5, 2, 15, 57344}},    {"fp16", {5, 10, 15, 65504}},
    {"bf16", {8, 7, 127, 0x1.FEp127f}},
};

TEST(Minifloats, DecodeFollowsTheLayout) {
  for (const auto& [name, layout] : kLayouts) {
    const Element& element = format_by_name(name).element;
    EXPECT_EQ(element.max, layout.max) << name;
    for (uint32_t code = 0; code < (1u << element.bits); ++code) {
      const uint32_t mantissa = code & ((1u << layout.mantissa_bits) - 1);
      const uint32_t exponent = (code >> layout.mantissa_bits) & ((1u << layout.exponent_bits) - 1);
      const bool negative = (code >> (element.bits - 1)) != 0;
      const double fraction = std::ldexp(mantissa, -layout.mantissa_bits);
      const double magnitude =
          exponent == 0 ? std::ldexp(fraction, 1 - layout.bias)
                        : std::ldexp(1 + fraction, static_cast<int>(exponent) - layout.bias);
      const float value = element.decode(static_cast<uint16_t>(code));
      if (magnitude > layout.max) {
        EXPECT_FALSE(std::isfinite(value)) << name << " code " << code;
      } else {
        EXPECT_TRUE(same_bits(value, static_cast<float>(negative ? -magnitude : magnitude)))
            << name << " code " << code;
      }
    }
  }
}

TEST(Minifloats, PublishedTies) {
  const Element& e2m1 = format_by_name("fp4_e2m1").element;
  const std::map<float, float> ties = {{0.25f, 0.0f}, {0.75f, 1.0f}, {1.25f, 1.0f}, {1.75f, 2.0f},
                                       {2.5f, 2.0f},  {3.5f, 4.0f},  {5.0f, 4.0f}};
  for (const auto& [tie, expected] : ties) EXPECT_EQ(e2m1.decode(e2m1.encode(tie)), expected);
  const Element& e4m3 = format_by_name("fp8_e4m3").element;
  for (const float x : {449.0f, 464.0f, 465.0f, 1e30f}) EXPECT_EQ(e4m3.encode(x), 0x7e);
  EXPECT_TRUE(std::isnan(e4m3.decode(0x7f)));
  EXPECT_TRUE(std::isnan(e4m3.decode(0xff)));
  const Element& e5m2 = format_by_name("fp8_e5m2").element;
  EXPECT_EQ(e5m2.decode(0x7c), kInfinity);
  EXPECT_EQ(e5m2.decode(0xfc), -kInfinity);
  EXPECT_TRUE(std::isnan(e5m2.decode(0x7d)));
}

TEST(Integers, CodesAreTwosComplement) {
  const Element& int4 = format_by_name("int4").element;
  EXPECT_EQ(int4.encode(-3.0f), 0xd);
  EXPECT_EQ(int4.encode(-8.0f), 0x9);
  EXPECT_EQ(int4.decode(0x8), -8.0f);
  EXPECT_EQ(format_by_name("int4_full").element.encode(-8.0f), 0x8);
  EXPECT_EQ(format_by_name("uint4").element.encode(15.4f), 0xf);
  EXPECT_EQ(format_by_name("uint4").element.encode(-1.0f), 0x0);
  const Element& mxint8 = format_by_name("mxint8").element;
  EXPECT_EQ(mxint8.max, 127.0f / 64);
  EXPECT_EQ(mxint8.decode(1), 1.0f / 64);
  EXPECT_EQ(format_by_name("mxint4").element.max, 1.75f);
  EXPECT_EQ(format_by_name("mxint2").element.max, 1.0f);
}

TEST(E8m0, RoundsToTheNearestPowerAndSaturates) {
  const Element& scale = format_by_name("e8m0").element;
  EXPECT_EQ(scale.encode(1.0f), 127);
  EXPECT_EQ(scale.encode(1.49f), 127);
  EXPECT_EQ(scale.encode(1.5f), 128);
  EXPECT_EQ(scale.encode(3.0f), 128);
  EXPECT_EQ(scale.encode(0.0f), 0);
  EXPECT_EQ(scale.encode(-4.0f), 0);
  EXPECT_EQ(scale.encode(0x1p-149f), 0);
  EXPECT_EQ(scale.encode(FLT_MAX), 254);
  EXPECT_EQ(scale.decode(0), 0x1p-127f);
  EXPECT_EQ(scale.decode(254), 0x1p127f);
  EXPECT_TRUE(std::isnan(scale.decode(255)));
}

}  // namespace
}  // namespace driftless::formats
