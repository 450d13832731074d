// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/judge.h"

#include <cmath>

#include <gtest/gtest.h>

#include "driftless/run/search/search.h"
#include "driftless/store/packed_model.h"

#include "tests/run/search/tiny_search.h"
#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

TEST(Gain, IsClearBeyondTheStandardErrorOfPairs) {
  const Judged before{.errors = {1, 2, 3, 4}};
  // Differences 1, 0, 1, 0: variance 1/3, of their mean 1/12.
  const Gain steady = gain(before, {.errors = {0, 2, 2, 4}});
  EXPECT_DOUBLE_EQ(steady.mean, 0.5);
  EXPECT_DOUBLE_EQ(steady.standard_error, std::sqrt(1.0 / 12));
  EXPECT_TRUE(steady.is_clear());
  // One board alone moves mean and standard error alike.
  const Gain lucky = gain(before, {.errors = {-3, 2, 3, 4}});
  EXPECT_DOUBLE_EQ(lucky.mean, 1);
  EXPECT_DOUBLE_EQ(lucky.standard_error, 1);
  EXPECT_FALSE(lucky.is_clear());
  EXPECT_FALSE(gain(before, before).is_clear());
  EXPECT_FALSE(gain({.errors = {0, 2, 2, 4}}, before).is_clear());
}

TEST(Gain, IsOfTheBoardsThatBothHave) {
  EXPECT_DOUBLE_EQ(gain({.errors = {1, 1, 5}}, {.errors = {0.5, 0}}).mean, 0.75);
}

class JudgeOfTiny : public ::testing::Test {
 protected:
  /// With weights in mxint8 where the activations are no blocks.
  [[nodiscard]] store::PackedModel packed(const std::string& acts) const {
    SchemeText text;
    text.weights = acts.starts_with("mx") ? acts : "mxint8";
    text.acts = acts;
    return store::pack_model(checkpoint_, planned_scheme(text, checkpoint_, kNative, {}).plan);
  }
  [[nodiscard]] Judged judged(const std::string& quantizer, const Judged* than = nullptr) const {
    return judge_.judge([&] { return packed(quantizer); }, than);
  }

  const BackendOptions kNative{.device = "native"};
  store::Checkpoint checkpoint_ = testing::tiny_checkpoint();
  CalibrationBoards source_ = calibration_source({}, checkpoint_, {});
  std::vector<reason::Board> boards_ = source_.draw(20, 1);
  Judge judge_{checkpoint_, boards_, kNative};
};

TEST_F(JudgeOfTiny, FewerBitsAreFurtherFromFloatOnEveryBoard) {
  const Judged wide = judged("mxint8");
  const Judged narrow = judged("mxint2");
  ASSERT_EQ(wide.errors.size(), boards_.size());
  for (size_t i = 0; i < boards_.size(); ++i) {
    EXPECT_GT(wide.errors[i], 0);
    EXPECT_LT(wide.errors[i], narrow.errors[i]) << i;
  }
}

TEST_F(JudgeOfTiny, ErrorsDoNotDependOnThreads) {
  const BackendOptions more{.device = "native", .threads = 3, .slots = 5};
  const Judge other(checkpoint_, boards_, more);
  EXPECT_EQ(other.judge([&] { return packed("mxint4"); }).errors, judged("mxint4").errors);
}

TEST_F(JudgeOfTiny, WhatIsClearlyWorseIsGivenUpOn) {
  const Judged wide = judged("mxint8");
  const Judged narrow = judged("mxint2", &wide);
  EXPECT_EQ(std::ssize(narrow.errors), kFirstBoards);
  EXPECT_FALSE(gain(wide, narrow).is_clear());
  EXPECT_EQ(judged("mxint8", &narrow).errors, wide.errors);
}

TEST_F(JudgeOfTiny, WhatCannotRunIsSkippedWithTheReason) {
  EXPECT_NE(judged("fp8_e4m3/token").skipped.find("native product"), std::string::npos);
  const Judged infinite =
      judge_.judge([]() -> store::PackedModel { fail(ErrorCode::Numeric, "an infinity"); });
  EXPECT_EQ(infinite.skipped, "an infinity");
  EXPECT_TRUE(infinite.errors.empty());
  const auto without_disk = []() -> store::PackedModel { fail(ErrorCode::Io, "no disk"); };
  EXPECT_ERROR((void)judge_.judge(without_disk), ErrorCode::Io, "no disk");
}

TEST_F(JudgeOfTiny, ErrorsThatAreNotFiniteAreSkipped) {
  const auto overflowing = [&] {
    store::PackedModel model = packed("mxint8");
    for (auto& [name, tensor] : model.tensors)
      for (float& value : tensor.values) value = 3e38f;
    return model;
  };
  EXPECT_NE(judge_.judge(overflowing).skipped, "");
}

}  // namespace
}  // namespace driftless::run
