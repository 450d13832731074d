// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/plan/moments.h"

#include <gtest/gtest.h>

#include "driftless/model/schedule.h"

#include "tests/reason/scripted_reasoner.h"
#include "tests/testing/expect_error.h"

namespace driftless::reason {
namespace {

using quant::QuantPlan;

/// Shows a layer whose inputs are quantized, (1, 2) times the board's token and after that rounded
/// to (1, 3) times it, and one whose inputs are not, (2, 1) times it.
class FollowedReasoner : public testing::ScriptedReasoner {
 public:
  explicit FollowedReasoner(const QuantPlan* plan) : ScriptedReasoner(1) {
    for (const quant::LayerPlan& layer : plan->layers) EXPECT_TRUE(layer.weights.is_none());
    EXPECT_FALSE(plan->find("quantized")->acts.is_none());
  }
  void reset(int64_t slot, const Board& board) override {
    ScriptedReasoner::reset(slot, board);
    token_ = static_cast<float>(board.tokens[0]);
  }
  void step(std::span<const int64_t> slots, StepObserver* observer) override {
    ScriptedReasoner::step(slots, observer);
    for (int64_t call = 0; call < std::ssize(model::schedule(config())); ++call) {
      show(observer, Point::LinearInput, "quantized", {token_, 2 * token_});
      show(observer, Point::QuantizedInput, "quantized", {token_, 3 * token_});
      show(observer, Point::LinearInput, "float", {2 * token_, token_});
      show(observer, Point::LinearInput, "left alone", {token_, token_});
    }
  }

 private:
  static void show(StepObserver* observer, Point point, std::string_view layer,
                   const std::vector<float>& row) {
    ASSERT_TRUE(observer->wants(point));
    observer->observe({.point = point, .layer = layer, .values = {row.data(), 1, 2, 2}});
  }
  float token_ = 0;
};

QuantPlan plan() {
  const quant::QuantSpec mxint4 = quant::parse_quant_spec("mxint4");
  return {.layers = {{.name = "quantized", .weights = mxint4, .acts = mxint4},
                     {.name = "float", .weights = mxint4}}};
}

const MakeReasoner kMakeFollowed = [](const QuantPlan* followed) {
  return std::make_unique<FollowedReasoner>(followed);
};

TEST(InputMoments, SumOverBoardsStepsAndCalls) {
  const std::vector<std::vector<uint8_t>> tokens = {
      {1, 1, 1, 1}, {2, 1, 1, 1}, {3, 1, 1, 1}, {4, 1, 1, 1}, {5, 1, 1, 1}};
  std::vector<Board> boards;
  for (const auto& one : tokens) boards.push_back({.tokens = one});
  const model::ModelConfig config = testing::ScriptedReasoner(1).config();
  // A board halts after as many steps as its first token says.
  const int64_t calls = std::ssize(model::schedule(config));
  const double unit = static_cast<double>(calls) * (1 * 1 + 2 * 4 + 3 * 9 + 4 * 16 + 5 * 25);
  for (const int64_t threads : {1, 3}) {
    const Moments moments = input_moments(kMakeFollowed, boards, plan(), Exact::Crossed, threads);
    ASSERT_EQ(moments.size(), 2u);
    const quant::InputMoments& quantized = moments.at("quantized");
    EXPECT_EQ(quantized.rows(), calls * (1 + 2 + 3 + 4 + 5));
    EXPECT_EQ(quantized.squares(), (std::vector<double>{unit, 3 * unit, 3 * unit, 9 * unit}));
    EXPECT_EQ(quantized.crossed(), (std::vector<double>{unit, 3 * unit, 2 * unit, 6 * unit}));
    const quant::InputMoments& plain = moments.at("float");
    EXPECT_EQ(plain.squares(), (std::vector<double>{4 * unit, 2 * unit, 2 * unit, unit}));
    EXPECT_TRUE(plain.crossed().empty());
  }
  const Moments uncrossed = input_moments(kMakeFollowed, boards, plan(), Exact::Ignored);
  EXPECT_TRUE(uncrossed.at("quantized").crossed().empty());
  EXPECT_ERROR(input_moments(kMakeFollowed, {}, plan(), Exact::Ignored), ErrorCode::InvalidArgument,
               "no boards");
}

}  // namespace
}  // namespace driftless::reason
