// SPDX-License-Identifier: Apache-2.0
// What every block format promises under every exponent rule.
#include "driftless/formats/block.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"
#include "driftless/formats/table.h"

namespace driftless::formats {
namespace {

using Block = std::vector<float>;

Block quantized(const Element& element, ExponentRule rule, const Block& block) {
  const int exponent = shared_exponent(block_scaling(element, rule), block);
  Block out;
  for (const float x : block) {
    out.push_back(decode_scaled(element, encode_scaled(element, x, exponent), exponent));
  }
  return out;
}

/// Gaussian, heavy-tailed, tie-heavy, sparse, constant and outlier blocks at several magnitudes.
std::vector<Block> sample_blocks() {
  Rng rng(42);
  std::vector<Block> blocks;
  for (int trial = 0; trial < 120; ++trial) {
    const int octave = static_cast<int>(rng.below(200)) - 100;
    Block block(32);
    for (size_t i = 0; i < block.size(); ++i) {
      double x = rng.gaussian();
      if (trial % 6 == 1) x = x * x * x;
      if (trial % 6 == 2) x = std::round(x * 8) / 8;
      if (trial % 6 == 3) x = rng.below(8) == 0 ? x : 0;
      if (trial % 6 == 4) x = 1.75;
      if (trial % 6 == 5 && i == 7) x *= 200;
      block[i] = static_cast<float>(std::ldexp(x, octave));
    }
    blocks.push_back(block);
  }
  blocks.push_back(Block(32, 0.0f));
  blocks.push_back(Block{0x1p-149f, -0x1p-140f, 0.0f, 0x1p-127f});
  blocks.push_back(Block{FLT_MAX, -FLT_MAX, 1.0f, 0x1p127f});
  return blocks;
}

class EveryBlockFormat : public ::testing::TestWithParam<std::string> {
 protected:
  const Element element = format_by_name(GetParam()).element;

  /// Calls check(rule, block) for every rule and sample block.
  template <class Check>
  void for_each_case(Check check) const {
    const auto blocks = sample_blocks();
    for (const auto& [rule, name] : exponent_rules()) {
      SCOPED_TRACE(name);
      for (const Block& block : blocks) check(rule, block);
    }
  }
};

TEST_P(EveryBlockFormat, ErrorIsAtMostHalfAStepUnlessClipped) {
  for_each_case([&](ExponentRule rule, const Block& block) {
    const int exponent = shared_exponent(block_scaling(element, rule), block);
    const double scale = std::ldexp(1.0, exponent);
    const Block out = quantized(element, rule, block);
    for (size_t i = 0; i < block.size(); ++i) {
      const double magnitude = std::abs(static_cast<double>(block[i])) / scale;
      ASSERT_TRUE(std::isfinite(out[i]));
      if (magnitude > element.max) {
        EXPECT_EQ(std::abs(out[i]) / scale, element.max);
        continue;
      }
      const int octave = magnitude == 0 ? element.min_exponent : std::ilogb(magnitude);
      const int step = std::max(octave, element.min_exponent) - element.mantissa_bits;
      EXPECT_LE(std::abs(out[i] - static_cast<double>(block[i])), std::ldexp(0.5, step) * scale);
    }
  });
}

TEST_P(EveryBlockFormat, ScalingByAPowerOfTwoShiftsTheExponentAlone) {
  for_each_case([&](ExponentRule rule, const Block& block) {
    const int exponent = shared_exponent(block_scaling(element, rule), block);
    if (std::abs(exponent) > 110) return;  // Near the limits the exponent saturates.
    for (const int shift : {-9, -1, 1, 8}) {
      Block shifted = block;
      for (float& x : shifted) x = std::ldexp(x, shift);
      EXPECT_EQ(shared_exponent(block_scaling(element, rule), shifted), exponent + shift);
      for (size_t i = 0; i < block.size(); ++i) {
        EXPECT_EQ(encode_scaled(element, shifted[i], exponent + shift),
                  encode_scaled(element, block[i], exponent));
      }
    }
  });
}

TEST_P(EveryBlockFormat, NegatingTheInputNegatesTheOutput) {
  for_each_case([&](ExponentRule rule, const Block& block) {
    Block negated = block;
    for (float& x : negated) x = -x;
    const Block out = quantized(element, rule, block);
    const Block out_negated = quantized(element, rule, negated);
    for (size_t i = 0; i < block.size(); ++i) EXPECT_EQ(out_negated[i], -out[i]);
  });
}

TEST_P(EveryBlockFormat, OrderWithinTheBlockDoesNotMatter) {
  Rng rng(3);
  for_each_case([&](ExponentRule rule, const Block& block) {
    Block shuffled = block;
    for (size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[rng.below(i)]);
    EXPECT_EQ(shared_exponent(block_scaling(element, rule), shuffled),
              shared_exponent(block_scaling(element, rule), block));
  });
}

TEST_P(EveryBlockFormat, QuantizingTwiceChangesNothing) {
  for_each_case([&](ExponentRule rule, const Block& block) {
    // Round, and midmax where the midpoint is itself a value, are not idempotent: see below.
    if (rule == ExponentRule::Round || rule == ExponentRule::Midmax) return;
    const Block once = quantized(element, rule, block);
    EXPECT_EQ(quantized(element, rule, once), once);
  });
}

TEST_P(EveryBlockFormat, PaddingZerosDoNotMatter) {
  for_each_case([&](ExponentRule rule, const Block& block) {
    Block padded = block;
    padded.resize(64, 0.0f);
    EXPECT_EQ(shared_exponent(block_scaling(element, rule), padded),
              shared_exponent(block_scaling(element, rule), block));
  });
}

std::vector<std::string> block_format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) {
    if (format.scaling == Scaling::PowerOfTwo) names.emplace_back(format.name);
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryBlockFormat, ::testing::ValuesIn(block_format_names()),
                         [](const auto& test) { return test.param; });

TEST(Blocks, RoundMayLowerTheExponentOfItsOwnOutput) {
  const Element& e2m1 = format_by_name("mxfp4").element;
  // 1.07 rounds to 1, whose own nearest exponent clips it to 0.75.
  const Block once = quantized(e2m1, ExponentRule::Round, {1.07f});
  EXPECT_EQ(once, Block{1.0f});
  EXPECT_EQ(quantized(e2m1, ExponentRule::Round, once), Block{0.75f});
}

TEST(Blocks, MidmaxMayClipItsOwnOutput) {
  const Element& e4m3 = format_by_name("mxfp8_e4m3").element;
  // 1.88 lies past the midpoint 1.875 of 1.75 and 2 and rounds to it; 1.875 itself does not.
  const Block once = quantized(e4m3, ExponentRule::Midmax, {1.88f});
  EXPECT_EQ(once, Block{1.875f});
  EXPECT_EQ(quantized(e4m3, ExponentRule::Midmax, once), Block{1.75f});
}

TEST(Blocks, KnownMxInt8Bytes) {
  const Element& element = format_by_name("mxint8").element;
  const Block block = {1.0f, -0.5f, 1.99f, 0.0078125f};
  const int exponent = shared_exponent(block_scaling(element, ExponentRule::Floor), block);
  EXPECT_EQ(exponent, 0);
  EXPECT_EQ(encode_scaled(element, 1.0f, exponent), 64);
  EXPECT_EQ(encode_scaled(element, -0.5f, exponent), 256 - 32);
  EXPECT_EQ(encode_scaled(element, 1.99f, exponent), 127);
  EXPECT_EQ(encode_scaled(element, 0.0078125f, exponent), 0);  // Half a step: ties to even.
}

TEST(Blocks, ZeroBlockHasTheLowestExponent) {
  for (const auto& [rule, name] : exponent_rules()) {
    EXPECT_EQ(
        shared_exponent(block_scaling(format_by_name("mxint4").element, rule), Block(32, -0.0f)),
        -127);
  }
}

TEST(TwoLevel, ScalesStayFiniteAndAboveZero) {
  const Element& e2m1 = format_by_name("nvfp4").element;
  EXPECT_EQ(two_level_tensor_scale(e2m1, 2688.0f), 1.0f);
  EXPECT_EQ(two_level_tensor_scale(e2m1, 0.0f), FLT_MIN);
  const float top = two_level_tensor_scale(e2m1, FLT_MAX);
  EXPECT_TRUE(std::isfinite(two_level_scale(0x7e, top) * e2m1.max));
  EXPECT_EQ(two_level_block_scale(e2m1, 6.0f, 1.0f), 0x38);     // 1.0
  EXPECT_EQ(two_level_block_scale(e2m1, 0.0f, 1.0f), 0x08);     // 2^-6, the smallest normal
  EXPECT_EQ(two_level_block_scale(e2m1, 2688.0f, 1.0f), 0x7e);  // 448
  EXPECT_EQ(two_level_scale(0x38, 0.25f), 0.25f);
}

}  // namespace
}  // namespace driftless::formats
