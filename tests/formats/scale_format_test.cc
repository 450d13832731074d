// SPDX-License-Identifier: Apache-2.0
// Scales with fractions, against their definition in whole numbers.
#include "driftless/formats/scale_format.h"

#include <cfloat>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/formats/block.h"
#include "driftless/formats/table.h"

namespace driftless::formats {
namespace {

TEST(ScaleFormat, CodesAreAFullMantissaTimesAPowerOfTwo) {
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(E5m3u::decode(static_cast<uint16_t>(code)),
              std::ldexp(static_cast<float>(8 + code % 8), code / 8 - 18));
    EXPECT_EQ(E4m4u::decode(static_cast<uint16_t>(code)),
              std::ldexp(static_cast<float>(16 + code % 16), code / 16 - 15));
  }
  EXPECT_EQ(E5m3u::decode(255), 122880.0f);
  EXPECT_EQ(E4m4u::decode(255), 31.0f);
}

TEST(ScaleFormat, SignedScalesTurnTheLargestMagnitudeDown) {
  EXPECT_EQ(encode_scale(ScaleFormat::S4m3, 1.125f), 0x51);
  EXPECT_EQ(encode_scale(ScaleFormat::S4m3, -1.125f), 0xd1);
  EXPECT_EQ(decode_scale(ScaleFormat::S4m3, 0), 0x1p-10f);
  EXPECT_EQ(decode_scale(ScaleFormat::S4m3, 0xff), -60.0f);
  EXPECT_EQ(scale_sign(ScaleFormat::S4m3, -1, 2), -1.0f);
  EXPECT_EQ(scale_sign(ScaleFormat::S4m3, -2, 2), 1.0f);
  EXPECT_EQ(scale_sign(ScaleFormat::E5m3, -1, 2), 1.0f);
}

TEST(ScaleFormat, EndsSaturate) {
  for (const auto& [format, name] : scale_formats()) {
    SCOPED_TRACE(name);
    const float least = round_scale({format}, FLT_MIN);
    const float most = round_scale({format}, FLT_MAX);
    EXPECT_GT(least, 0.0f);
    EXPECT_TRUE(std::isfinite(most));
    EXPECT_EQ(round_scale({format, ScaleRounding::Up}, FLT_MAX), most);
    EXPECT_EQ(step_scale(format, least, -4), least);
    EXPECT_EQ(step_scale(format, most, 1), most);
    EXPECT_TRUE(is_scale_code(format, encode_scale(format, FLT_MIN)));
  }
  EXPECT_FALSE(is_scale_code(ScaleFormat::Float16, 0));
  EXPECT_FALSE(is_scale_code(ScaleFormat::Float16, 0x7c00));
  EXPECT_FALSE(is_scale_code(ScaleFormat::Float16, 0x8400));
}

TEST(ScaleFormat, NearestAndUp) {
  // Between 1 and 1.125 in e5m3; 1.0625 is the middle, and 1 has the even code.
  EXPECT_EQ(round_scale({ScaleFormat::E5m3}, 1.0625f), 1.0f);
  EXPECT_EQ(round_scale({ScaleFormat::E5m3}, 1.07f), 1.125f);
  EXPECT_EQ(round_scale({ScaleFormat::E5m3}, 1.96f), 2.0f);
  EXPECT_EQ(round_scale({ScaleFormat::E5m3, ScaleRounding::Up}, 1.01f), 1.125f);
  EXPECT_EQ(round_scale({ScaleFormat::E5m3, ScaleRounding::Up}, 1.125f), 1.125f);
  EXPECT_EQ(round_scale({ScaleFormat::E4m4, ScaleRounding::Up}, 1.01f), 1.0625f);
  EXPECT_EQ(round_scale({ScaleFormat::Float32}, 1.01f), 1.01f);
}

TEST(ScaleFormat, StepsAreEighthsOfAnOctave) {
  for (const auto& [format, name] : scale_formats()) {
    EXPECT_EQ(step_scale(format, 1.0f, 1), 1.125f) << name;
    EXPECT_EQ(step_scale(format, 1.0f, -4), 0.75f) << name;
  }
}

TEST(ScaleFormat, SquaredErrorByHand) {
  // Octave of 7 is 4: units of 4 / 1024. Codes of 7, 2.6, -0.4 at scale 1: 7, 3, 0.
  const std::vector<float> run = {7, 2.6f, -0.4f};
  const Element element = format_by_name("int4").element;
  const float unit = error_unit(7);
  EXPECT_EQ(unit, 256.0f);
  const auto square = [](double error) { return std::lrint(error * error * 256 * 256); };
  EXPECT_EQ(scaled_squared_error(element, run, 1, unit), 2 * square(0.4));
  // Clipped at 3.5: half the scale.
  EXPECT_EQ(scaled_squared_error(element, run, 0.5f, unit),
            square(3.5) + square(0.1) + square(0.1));
}

}  // namespace
}  // namespace driftless::formats
