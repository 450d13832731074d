// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/plan/calibrate.h"

#include <set>

#include <gtest/gtest.h>

#include "driftless/model/schedule.h"

#include "tests/reason/scripted_reasoner.h"
#include "tests/testing/expect_error.h"

namespace driftless::reason {
namespace {

using quant::QuantPlan;
using quant::ScaleSharing;

/// Shows two layers in every call. Input j of "rows" in call c is (j + 1) (c + 1) times the board's
/// first token; "columns" shows the same transposed, in two pieces. With a plan, values are halved:
/// a stand-in for a transform.
class ShowingReasoner : public testing::ScriptedReasoner {
 public:
  explicit ShowingReasoner(const QuantPlan* plan)
      : ScriptedReasoner(1), factor_(plan != nullptr && plan->layers[0].smooth ? 0.5f : 1.0f) {
    if (plan == nullptr) return;
    for (const quant::LayerPlan& layer : plan->layers)
      EXPECT_TRUE(layer.weights.is_none() && layer.acts.is_none()) << layer.name;
  }
  void reset(int64_t slot, const Board& board) override {
    ScriptedReasoner::reset(slot, board);
    token_ = board.tokens[0];
  }
  void step(std::span<const int64_t> slots, StepObserver* observer) override {
    ScriptedReasoner::step(slots, observer);
    const auto calls = std::ssize(model::schedule(config()));
    for (int64_t call = 0; call < calls; ++call) {
      const float unit = factor_ * static_cast<float>((call + 1) * token_);
      const std::vector<float> values = {unit, -2 * unit, 0, 0};  // 2 rows, 2 inputs
      const std::vector<float> columns = {unit, 0, 99, -2 * unit, 0, 99};
      observer->observe({.point = Point::LinearInput,
                         .call = call,
                         .layer = "rows",
                         .values = {values.data(), 2, 2, 2}});
      for (const int64_t row : {0, 1})
        observer->observe({.point = Point::LinearInput,
                           .call = call,
                           .layer = "columns",
                           .first_row = row,
                           .values = {columns.data() + row, 1, 2, 1, 3}});
    }
  }

 private:
  float factor_;
  int64_t token_ = 0;
};

const MakeReasoner kMake = [](const QuantPlan* plan) {
  return std::make_unique<ShowingReasoner>(plan);
};

QuantPlan plan_for(ScaleSharing sharing, const char* acts = "int4/tensor/static") {
  QuantPlan plan;
  for (const char* name : {"rows", "columns"})
    plan.layers.push_back(
        {.name = name, .acts = quant::parse_quant_spec(acts), .sharing = sharing});
  return plan;
}

const std::vector<uint8_t> kTokens = {7, 1, 0, 0, 3, 1, 0, 0};

std::vector<Board> two_boards() {
  return {{.tokens = {kTokens.data(), 4}}, {.tokens = {kTokens.data() + 4, 4}}};
}

/// The largest magnitude of call c is 2 * 7 * (c + 1), which int4 divides by 7.
float scale_after(int64_t call) { return 2 * static_cast<float>(call + 1); }

TEST(Calibrate, OneScaleForAllCalls) {
  QuantPlan plan = plan_for(ScaleSharing::All);
  calibrate(kMake, two_boards(), plan);
  EXPECT_FALSE(plan.needs_calibration());
  const auto calls = std::ssize(model::schedule(model::ModelConfig{}));
  for (const quant::LayerPlan& layer : plan.layers)
    EXPECT_EQ(layer.scales, std::vector<quant::Scale>{{scale_after(calls - 1)}}) << layer.name;
}

TEST(Calibrate, AScaleForEachRoleOrCall) {
  const auto schedule = model::schedule(model::ModelConfig{});  // L L L L L L H, three times
  QuantPlan roles = plan_for(ScaleSharing::Role);
  QuantPlan calls = plan_for(ScaleSharing::Call);
  calibrate(kMake, two_boards(), roles);
  calibrate(kMake, two_boards(), calls);
  for (size_t layer = 0; layer < 2; ++layer) {
    ASSERT_EQ(roles.layers[layer].scales.size(), schedule.size());
    for (int64_t call = 0; call < std::ssize(schedule); ++call) {
      const bool updates_h = schedule[static_cast<size_t>(call)].updates == model::State::H;
      EXPECT_EQ(roles.layers[layer].scale_of_call(call).scale, scale_after(updates_h ? 20 : 19));
      EXPECT_EQ(calls.layers[layer].scale_of_call(call).scale, scale_after(call));
    }
  }
}

TEST(Calibrate, InputRangesComeFromTheFloatModelAndScalesFromTheTransformedOne) {
  QuantPlan plan = plan_for(ScaleSharing::All);
  plan.layers[0].smooth = 0.5;
  calibrate(kMake, two_boards(), plan);
  EXPECT_EQ(plan.layers[0].input_absmax, (std::vector<float>{7 * 21, 14 * 21}));
  EXPECT_EQ(plan.layers[0].scales[0].scale, scale_after(20) / 2);
}

TEST(Calibrate, KeepsWhatIsThere) {
  QuantPlan plan = plan_for(ScaleSharing::All);
  plan.layers[0].scales = {{0.125f}};
  calibrate(kMake, two_boards(), plan);
  EXPECT_EQ(plan.layers[0].scales[0].scale, 0.125f);
  EXPECT_EQ(plan.layers[1].scales[0].scale, scale_after(20));
}

TEST(Calibrate, TakesPercentilesFromHistograms) {
  QuantPlan plan = plan_for(ScaleSharing::Call, "int4/tensor/static,calib=p50");
  calibrate(kMake, two_boards(), plan);
  // Half of the values are zero, so their median is the least magnitude there is.
  EXPECT_LT(plan.layers[0].scales[0].scale, 1e-30f);
}

TEST(Calibrate, SeveralPlansAreCalibratedAsEachOnItsOwn) {
  std::vector<QuantPlan> plans = {plan_for(ScaleSharing::All), plan_for(ScaleSharing::Call),
                                  plan_for(ScaleSharing::Role, "int8/tensor/static"),
                                  plan_for(ScaleSharing::All, "mxint4")};
  for (QuantPlan& plan : plans) plan.layers[0].smooth = 0.5;
  std::vector<QuantPlan> alone = plans;
  for (QuantPlan& plan : alone) calibrate(kMake, two_boards(), plan);
  calibrate(kMake, two_boards(), plans);
  EXPECT_EQ(plans, alone);
  plans[1].layers[0].smooth = 0.75;
  plans[2].layers[0].scales.clear();
  EXPECT_ERROR(calibrate(kMake, two_boards(), plans), ErrorCode::InvalidArgument, "plans differ");
}

TEST(Calibrate, ThreadsDoNotMatter) {
  for (const char* acts : {"int4/tensor/static", "int4/tensor/static,calib=p75"}) {
    QuantPlan alone = plan_for(ScaleSharing::Call, acts);
    alone.layers[0].smooth = 0.5;
    QuantPlan shared = alone;
    calibrate(kMake, two_boards(), alone);
    calibrate(kMake, two_boards(), shared, 3);
    EXPECT_FALSE(alone.needs_calibration());
    EXPECT_EQ(shared, alone);
  }
}

TEST(Calibrate, DrawsBoardsWithoutRepetition) {
  std::vector<Board> boards;
  for (int64_t i = 0; i < 20; ++i) boards.push_back({.tokens = {}, .puzzle = i});
  const auto drawn = draw_boards(boards, 12, 5);
  std::set<int64_t> seen;
  for (const Board& board : drawn) seen.insert(board.puzzle);
  EXPECT_EQ(seen.size(), 12u);
  const auto fewer = draw_boards(boards, 3, 5);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(fewer[i].puzzle, drawn[i].puzzle);
  const auto other = draw_boards(boards, 12, 6);
  EXPECT_FALSE(std::equal(other.begin(), other.end(), drawn.begin(),
                          [](auto& a, auto& b) { return a.puzzle == b.puzzle; }));
}

TEST(Calibrate, RefusesTooFewBoards) {
  const auto code = ErrorCode::InvalidArgument;
  QuantPlan plan = plan_for(ScaleSharing::All);
  EXPECT_ERROR(calibrate(kMake, {}, plan), code, "no boards");
  EXPECT_ERROR(draw_boards(two_boards(), 3, 0), code, "got 3, expected 1 to 2");
  QuantPlan percentile = plan_for(ScaleSharing::All, "int4/tensor/static,calib=p99.99");
  EXPECT_ERROR(calibrate(kMake, two_boards(), percentile), code, "more calibration boards");
}

}  // namespace
}  // namespace driftless::reason
