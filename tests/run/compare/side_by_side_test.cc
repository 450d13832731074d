// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/compare/side_by_side.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/reason/run.h"

#include "tests/run/answer_reasoner.h"
#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

using testing::AnswerReasoner;

std::unique_ptr<reason::Reasoner> answering(std::vector<uint8_t> tokens, float halt_logit,
                                            int64_t vocab_size = 4) {
  return std::make_unique<AnswerReasoner>(
      vocab_size, 2, [tokens = std::move(tokens), halt_logit](const reason::Board&) {
        return testing::Prepared{tokens, halt_logit};
      });
}

std::vector<std::unique_ptr<reason::Reasoner>> two() {
  std::vector<std::unique_ptr<reason::Reasoner>> parts;
  parts.push_back(answering({1, 2}, 1));
  parts.push_back(answering({3, 1}, -1));
  return parts;
}

TEST(SideBySide, EachSlotIsAReasonerThatStopsByItself) {
  const auto both = side_by_side(two());
  ASSERT_EQ(both->slot_count(), 2);
  const std::vector<uint8_t> question = {1, 1};
  const std::vector<reason::Board> boards(2, reason::Board{.tokens = question});
  std::vector<std::pair<int64_t, int64_t>> seen;
  std::vector<reason::Answer> last(2);
  reason::run(
      *both, boards, {.halting = reason::find_halting("halt"), .max_steps = 3},
      [&](int64_t side, const reason::Answer& answer) { last[static_cast<size_t>(side)] = answer; },
      [&](int64_t side, const reason::Answer& answer) { seen.emplace_back(side, answer.steps); });
  EXPECT_EQ(last[0].tokens, (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(last[0].steps, 1) << "its halt logit is above 0";
  EXPECT_EQ(last[1].tokens, (std::vector<uint8_t>{3, 1}));
  EXPECT_EQ(last[1].steps, 3);
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 1}, {1, 2}, {1, 3}}))
      << "round by round";
}

TEST(SideBySide, RefusesWhatIsNoComparison) {
  EXPECT_ERROR(side_by_side({}), ErrorCode::InvalidArgument, "no reasoner");
  auto parts = two();
  parts.push_back(answering({1, 1}, 0, 5));
  EXPECT_ERROR(side_by_side(std::move(parts)), ErrorCode::InvalidArgument, "one model");
  const auto both = side_by_side(two());
  const std::vector<int64_t> twice = {1, 1};
  EXPECT_ERROR(both->step(twice, nullptr), ErrorCode::InvalidArgument, "twice");
  EXPECT_ERROR((void)both->read(2), ErrorCode::InvalidArgument, "expected 0 to 1");
}

}  // namespace
}  // namespace driftless::run
