// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/training.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "driftless/task/arc/augment.h"
#include "driftless/task/arc/rows.h"

#include "tests/task/arc/random_puzzle.h"
#include "tests/testing/expect_error.h"

namespace driftless::task::arc {
namespace {

using testing::expect_error;

Puzzle task(const std::string& name, Rng& rng) {
  Puzzle made{.name = name, .train = {}, .test = {}};
  for (int64_t i = 0; i < 3; ++i)
    made.train.push_back({.input = random_grid(rng, 3), .output = random_grid(rng, 3)});
  made.test.push_back({.input = random_grid(rng, 3), .output = random_grid(rng, 3)});
  return made;
}

TEST(ArcTraining, EveryVariantHasItsRowAndItsPairs) {
  Rng rng(1);
  std::vector<Puzzle> asked = {task("a", rng), task("b", rng)};
  asked[1].test[0].output.reset();
  std::vector<Puzzle> others = {task("c", rng)};
  others[0].test.push_back({.input = random_grid(rng, 3), .output = std::nullopt});
  const TrainingSet set = training_set(asked, others, {.side = 6, .variants = 4}, rng);
  ASSERT_EQ(set.names.size(), 1 + 3 * 5u);
  EXPECT_EQ(set.names[0], kBlankName);
  EXPECT_EQ(set.names[1], "a");
  EXPECT_EQ(set.names[6], "b");
  EXPECT_EQ(std::set<std::string>(set.names.begin(), set.names.end()).size(), set.names.size());
  EXPECT_EQ(set.train.size(), 5 * (3 + 3 + 4u)) << "the known test pair of c trains";
  EXPECT_EQ(set.test.size(), 5 * 2u) << "c is not asked";
  for (const auto* rows : {&set.train, &set.test})
    for (const Example& row : *rows)
      EXPECT_EQ(set.names.at(static_cast<size_t>(row.puzzle)), row.name);
  EXPECT_EQ(set.test.back().label, std::vector<uint8_t>(36, 0)) << "unknown: no cell counts";
  // The test rows are those that a model with this table is asked about.
  const Identifiers identifiers(set.names, "set");
  const auto asked_rows = rows(asked, identifiers, {.side = 6});
  ASSERT_EQ(asked_rows.size(), set.test.size());
  for (size_t i = 0; i < asked_rows.size(); ++i) {
    EXPECT_EQ(asked_rows[i].name, set.test[i].name);
    EXPECT_EQ(asked_rows[i].input, set.test[i].input);
    EXPECT_EQ(asked_rows[i].label, set.test[i].label);
    EXPECT_EQ(asked_rows[i].puzzle, set.test[i].puzzle);
  }
}

TEST(ArcTraining, PairsMoveTogetherAndOneOfAVariantStaysTopLeft) {
  Rng rng(2);
  const std::vector<Puzzle> asked = {task("a", rng)};
  const TrainingSet set = training_set(asked, {}, {.side = 9, .variants = 20}, rng);
  std::map<std::string, int64_t> top_left;
  int64_t moved = 0;
  for (const Example& row : set.train) {
    const auto first = [](const std::vector<uint8_t>& tokens) {
      size_t i = 0;
      while (tokens[i] == 0) ++i;
      return i;
    };
    // The first color of a grid is its top left corner.
    EXPECT_EQ(first(row.input), first(row.label));
    if (first(row.input) == 0)
      ++top_left[row.name];
    else
      ++moved;
  }
  EXPECT_EQ(top_left.size(), set.names.size() - 1) << "every variant has one";
  EXPECT_GT(moved, 0);
}

TEST(ArcTraining, TheSeedDecides) {
  Rng tasks(3);
  const std::vector<Puzzle> asked = {task("a", tasks)};
  const auto names = [&](uint64_t seed) {
    Rng rng(seed);
    return training_set(asked, {}, {.side = 6, .variants = 4}, rng).names;
  };
  EXPECT_EQ(names(1), names(1));
  EXPECT_NE(names(1), names(2));
}

TEST(ArcTraining, WrongInput) {
  Rng rng(4);
  const std::vector<Puzzle> asked = {task("a", rng)};
  expect_error(ErrorCode::InvalidArgument, "task a: got it twice",
               [&] { return training_set(asked, asked, {}, rng); });
  std::vector<Puzzle> large = {task("large", rng)};
  large[0].train[1].output = random_grid(Extent{.rows = 6, .columns = 2}, rng);
  expect_error(ErrorCode::InvalidArgument,
               "task large: ", [&] { return training_set(large, {}, {.side = 5}, rng); });
}

}  // namespace
}  // namespace driftless::task::arc
