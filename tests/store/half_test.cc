// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/half.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace driftless::store {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The definition: sign, exponent and fraction as powers of two, in double.
double by_definition(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

struct Format {
  float (*decode)(uint16_t) noexcept;
  uint16_t (*encode)(float) noexcept;
  int exponent_bits;
};

class Half : public ::testing::TestWithParam<Format> {};

TEST_P(Half, DecodesEveryCodeAndEncodesItBack) {
  const Format format = GetParam();
  for (int code = 0; code < 65536; ++code) {
    const auto bits = static_cast<uint16_t>(code);
    const double expected = by_definition(bits, format.exponent_bits);
    const float decoded = format.decode(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(decoded));
      EXPECT_TRUE(std::isnan(format.decode(format.encode(decoded))));
    } else {
      EXPECT_EQ(decoded, expected);
      EXPECT_EQ(format.encode(decoded), bits);
    }
  }
}

TEST_P(Half, RoundsToNearestTiesToEvenBetweenEveryPairOfNeighbours) {
  const Format format = GetParam();
  const auto infinity = format.encode(kInfinity);
  for (uint16_t low = 0; low + 1 < infinity; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    // The midpoint of two neighbours has one bit more than they have, so float32 holds it exactly.
    const float middle = static_cast<float>(
        (by_definition(low, format.exponent_bits) + by_definition(high, format.exponent_bits)) / 2);
    const uint16_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(format.encode(middle), even) << low;
    ASSERT_EQ(format.encode(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(format.encode(std::nextafter(middle, kInfinity)), high) << low;
    ASSERT_EQ(format.encode(-middle), even | 0x8000) << low;
  }
}

TEST_P(Half, LargeValuesBecomeInfinityAndTinyOnesZero) {
  const Format format = GetParam();
  const auto infinity = format.encode(kInfinity);
  EXPECT_EQ(format.encode(std::numeric_limits<float>::max()), infinity);
  EXPECT_EQ(format.encode(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(format.encode(-0.0f), 0x8000);
}

INSTANTIATE_TEST_SUITE_P(Formats, Half,
                         ::testing::Values(Format{decode_f16, encode_f16, 5},
                                           Format{decode_bf16, encode_bf16, 8}));

}  // namespace
}  // namespace driftless::store
