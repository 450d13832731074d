// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/layer_errors.h"

#include <cmath>

#include <gtest/gtest.h>

namespace driftless::study {
namespace {

using reason::Point;

/// Shows an input and its quantized values, the input transposed in memory as a token mixer's is.
void show(LayerErrors& errors, std::string_view layer, int64_t call, const std::vector<float>& x,
          const std::vector<float>& q) {
  const std::vector<float> transposed = {x[0], x[2], x[1], x[3]};
  errors.observe({.point = Point::LinearInput,
                  .call = call,
                  .layer = layer,
                  .values = {transposed.data(), 2, 2, 1, 2}});
  errors.observe({.point = Point::QuantizedInput,
                  .call = call,
                  .layer = layer,
                  .values = {q.data(), 2, 2, 2}});
}

TEST(LayerErrors, ByHand) {
  Tally tally;
  LayerErrors errors(tally);
  EXPECT_TRUE(errors.wants(Point::QuantizedInput));
  EXPECT_FALSE(errors.wants(Point::StateL));
  // Errors 1, 0, -1, 4 over inputs of square sum 36; then errors 0, 0, 2, 0 over 14.
  show(errors, "down", 2, {1, 3, 5, 1}, {2, 3, 4, 5});
  show(errors, "down", 2, {1, 2, 3, 0}, {1, 2, 5, 0});
  show(errors, "up", 0, {2, 0, 0, 0}, {2, 0, 0, 0});
  // A layer that is not quantized shows its input alone.
  const std::vector<float> input = {1};
  errors.observe({.point = Point::LinearInput, .layer = "head", .values = {input.data(), 1, 1, 1}});
  const std::vector<LayerError> result = layer_errors(tally);
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0].layer, "down");
  EXPECT_EQ(result[0].call, 2);
  EXPECT_DOUBLE_EQ(result[0].relative, std::sqrt(22.0 / 50));
  EXPECT_DOUBLE_EQ(result[0].signed_mean, 6.0 / 8 / std::sqrt(50.0 / 8));
  EXPECT_EQ(result[1].layer, "up");
  EXPECT_EQ(result[1].relative, 0);
}

TEST(LayerErrors, ADeviceShowsAllInputsBeforeTheirCodes) {
  Tally tally;
  LayerErrors errors(tally);
  const std::vector<float> inputs = {3, 4};
  const std::vector<float> codes = {2, 4};
  for (const Point point : {Point::LinearInput, Point::QuantizedInput})
    for (const int64_t slot : {0, 1}) {
      const std::vector<float>& values = point == Point::LinearInput ? inputs : codes;
      errors.observe({.point = point,
                      .slot = slot,
                      .layer = "down",
                      .values = {&values[static_cast<size_t>(slot)], 1, 1, 1}});
    }
  const std::vector<LayerError> result = layer_errors(tally);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_DOUBLE_EQ(result[0].relative, std::sqrt(1.0 / 25));
}

}  // namespace
}  // namespace driftless::study
