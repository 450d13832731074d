// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/readout.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::reason {
namespace {

TEST(Readout, AnswersWithTheFirstLargestLogit) {
  const std::vector<float> logits = {1, 3, 3, -1, -2, -1};
  std::vector<uint8_t> tokens = {1, 2};
  EXPECT_EQ(answer_of({.logits = logits}, 3), (std::vector<uint8_t>{1, 0}));
  EXPECT_TRUE(take_answer({.logits = logits}, tokens));
  EXPECT_EQ(tokens, (std::vector<uint8_t>{1, 0}));
  EXPECT_FALSE(take_answer({.logits = logits}, tokens)) << "as it was";
  EXPECT_TRUE(answer_of({}, 3).empty());
}

TEST(Readout, EveryLogitMustBeFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> good = {1, 2};
  const std::vector<float> bad = {1, kNan};
  require_finite({.logits = good}, 0, 1);
  for (const Readout& readout :
       {Readout{.logits = bad}, Readout{.logits = good, .halt_logit = kInfinity},
        Readout{.logits = good, .continue_logit = -kInfinity}})
    EXPECT_ERROR(require_finite(readout, 7, 2), ErrorCode::Numeric, "board 7, step 2: a logit");
}

}  // namespace
}  // namespace driftless::reason
