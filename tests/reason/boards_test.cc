// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/boards.h"

#include <gtest/gtest.h>

namespace driftless::reason {
namespace {

struct Example {
  std::vector<uint8_t> input;
  int64_t puzzle = 0;
};

TEST(Boards, LookAtExamplesAndCountOnFromTheFirst) {
  const std::vector<Example> examples = {{{1, 2}, 7}, {{3, 4}, 8}};
  const std::vector<Board> boards = boards_of(examples, 100, 5);
  ASSERT_EQ(boards.size(), 2U);
  EXPECT_EQ(boards[1].tokens.data(), examples[1].input.data());
  EXPECT_EQ(boards[1].tokens.size(), 2U);
  EXPECT_EQ(boards[1].puzzle, 8);
  EXPECT_EQ(boards[0].seed, 105U);
  EXPECT_EQ(boards[1].seed, 106U);
  EXPECT_EQ(boards[1].number, 6);
}

}  // namespace
}  // namespace driftless::reason
