// SPDX-License-Identifier: Apache-2.0
// The shared exponents against the rules' definitions in long double arithmetic.
#include "driftless/formats/exponent_rule.h"

#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/formats/block.h"
#include "driftless/formats/table.h"

namespace driftless::formats {
namespace {

/// ceil(log2(x)) without a logarithm: the least n with 2^n >= x.
int ceil_log2(long double x) {
  int exponent = 0;
  const long double fraction = std::frexp(x, &exponent);
  return fraction == 0.5L ? exponent - 1 : exponent;
}

int floor_log2(long double x) { return std::ilogb(x); }

/// The exponent by its definition, before it is limited.
int defined_exponent(ExponentRule rule, const Element& element, float absmax) {
  const long double a = absmax;
  const int emax = element.max_exponent;
  const int floor_exponent = floor_log2(a) - emax;
  switch (rule) {
    case ExponentRule::Floor:
      return floor_exponent;
    case ExponentRule::Ceil:
      return ceil_log2(a) - emax;
    case ExponentRule::Even: {
      const int ulp = floor_log2(a) - element.mantissa_bits;
      return floor_log2(a + std::ldexp(0.5L, ulp)) - emax;
    }
    case ExponentRule::Rceil:
      return ceil_log2(a / element.max);
    case ExponentRule::Midmax: {
      const long double middle = (element.max + std::ldexp(1.0L, emax + 1)) / 2;
      return a / std::ldexp(1.0L, floor_exponent) > middle ? floor_exponent + 1 : floor_exponent;
    }
    case ExponentRule::Round:
      return static_cast<int>(std::lrint(std::log2(a / element.max)));
    case ExponentRule::Mse:
      break;
  }
  ADD_FAILURE();
  return 0;
}

std::vector<float> interesting_magnitudes() {
  std::vector<float> magnitudes = {0x1.fffffep8f, 512.0f,    1.0f,        1.5f,
                                   1.75f,         1.875f,    1.9375f,     0.5f,
                                   0x1p-126f,     0x1p-127f, 0x1.8p-127f, 0x1p-149f,
                                   FLT_MAX,       0x1p127f,  0x1.8p127f,  0x1.fffffcp-127f};
  const size_t seeds = magnitudes.size();
  for (size_t i = 0; i < seeds; ++i) {
    magnitudes.push_back(std::nextafter(magnitudes[i], 0.0f));
    if (magnitudes[i] < FLT_MAX) magnitudes.push_back(std::nextafter(magnitudes[i], FLT_MAX));
  }
  Rng rng(11);
  for (int i = 0; i < 4000; ++i) {
    magnitudes.push_back(
        static_cast<float>(std::ldexp(1 + rng.uniform(), static_cast<int>(rng.below(252)) - 126)));
  }
  std::erase_if(magnitudes, [](float x) { return !(x > 0); });
  return magnitudes;
}

TEST(ExponentRules, MatchTheirDefinitions) {
  for (const Format& format : formats()) {
    if (format.scaling != Scaling::PowerOfTwo) continue;
    for (const auto& [rule, name] : exponent_rules()) {
      if (rule == ExponentRule::Mse) continue;
      for (const float absmax : interesting_magnitudes()) {
        const int defined = defined_exponent(rule, format.element, absmax);
        const int limited = std::clamp(defined, -127, 127 - format.element.max_exponent);
        const float block[] = {absmax / 4, -absmax};
        EXPECT_EQ(shared_exponent(block_scaling(format.element, rule), block), limited)
            << format.name << " " << name << " " << absmax;
      }
    }
  }
}

TEST(ExponentRules, LeastErrorPicksTheBestNeighbor) {
  Rng rng(5);
  for (const Format& format : formats()) {
    if (format.scaling != Scaling::PowerOfTwo) continue;
    const Element& element = format.element;
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<float> block(32);
      for (float& x : block) x = static_cast<float>(rng.gaussian());
      const auto error_at = [&](int exponent) {
        long double sum = 0;
        for (const float x : block) {
          const long double error =
              x - decode_scaled(element, encode_scaled(element, x, exponent), exponent);
          sum += error * error;
        }
        return sum;
      };
      const int floor_exponent =
          shared_exponent(block_scaling(element, ExponentRule::Floor), block);
      const int chosen = shared_exponent(block_scaling(element, ExponentRule::Mse), block);
      EXPECT_LE(std::abs(chosen - floor_exponent), 1);
      // Each of the 32 squares may be off by half a unit of the fixed-point sum, and by one
      // rounding of the float product, which is smaller than that again.
      const int octave = floor_exponent + element.max_exponent;
      const long double slack = 2 * 32 * std::ldexp(1.0L, 2 * octave - kSquaredErrorBits);
      for (const int step : {-1, 0, 1}) {
        EXPECT_LE(error_at(chosen), error_at(floor_exponent + step) + slack) << format.name;
      }
    }
  }
}

TEST(ExponentRules, NamesRoundTripAndUnknownOnesSuggest) {
  for (const auto& [rule, name] : exponent_rules()) {
    EXPECT_EQ(name_of(rule), name);
    EXPECT_EQ(exponent_rule_by_name(name), rule);
  }
  try {
    exponent_rule_by_name("flor");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("did you mean 'floor'"), std::string::npos);
  }
}

}  // namespace
}  // namespace driftless::formats
