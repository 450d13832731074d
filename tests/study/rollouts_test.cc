// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/rollouts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"
#include "driftless/study/seeds.h"

#include "tests/study/linear_reasoner.h"

namespace driftless::study {
namespace {

constexpr int64_t kRollouts = 9;
constexpr double kNoise = 1.5;
constexpr uint64_t kSeed = 7;
constexpr int64_t kFirstBoard = 40;

/// Steps that leave the states as they are, answers read from the noisy z_L.
Tally run(const task::Example& example, double noise, int64_t rollouts, int64_t steps = 1) {
  const std::vector<task::Example> examples = {example};
  const std::vector<reason::Board> boards = {{.tokens = examples[0].input}};
  testing::LinearReasoner reasoner({.gain = 1, .bias = {}, .heads = testing::Heads::ReadL}, 1);
  Tally tally;
  const auto token = static_cast<float>(example.input[0]);
  run_rollouts(reasoner, testing::linear_task(),
               {.examples = examples,
                .boards = boards,
                .first_board = kFirstBoard,
                .float_latent = {{token, 1}},
                .float_answers = {example.label}},
               {.rollouts = rollouts, .noise = noise, .seed = kSeed, .steps = steps}, tally);
  return tally;
}

double last(const Tally& tally, std::string_view name) { return tally.series(name).back().mean(); }

TEST(Rollouts, WithoutNoiseAllTrajectoriesAgree) {
  const Tally tally = run(testing::example_of(2, 1), 0, 3);
  for (const std::string_view kind : kRolloutAnswers) {
    EXPECT_EQ(last(tally, rollout_name(kind, "exact")), 1) << kind;
    EXPECT_EQ(last(tally, rollout_name(kind, "cells")), 1) << kind;
  }
  EXPECT_EQ(last(tally, kRolloutDivergence), 0);
  EXPECT_EQ(last(tally, "exact"), 1);
  EXPECT_EQ(last(tally, "lost"), 0);
}

TEST(Rollouts, AnswersAreThoseOfTheNoisyTrajectories) {
  // The same noise drawn here: z_L = (1, 1) + noise, logits (0, z_L), score z_L[0] - z_L[1].
  std::map<int, int64_t> votes;
  std::array<double, 2> sums = {0, 0};
  double best_score = -1e9;
  int selected = -1;
  for (uint64_t rollout = 0; rollout < kRollouts; ++rollout) {
    Rng rng(mix_seeds({kSeed, kFirstBoard, rollout, 1}));
    std::array<float, 3> logits = {0, 0, 0};
    for (size_t i = 0; i < 2; ++i) {
      logits[i + 1] = 1.0f + static_cast<float>(kNoise * rng.gaussian());
      sums[i] += static_cast<double>(logits[i + 1]);
    }
    const int answer =
        static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    ++votes[answer];
    if (logits[1] - logits[2] > best_score) {
      best_score = logits[1] - logits[2];
      selected = answer;
    }
  }
  ASSERT_EQ(votes.size(), 3u) << "the seed should give all three answers";
  for (int label = 1; label <= 2; ++label) {
    const Tally tally = run(testing::example_of(1, static_cast<uint8_t>(label)), kNoise, kRollouts);
    EXPECT_EQ(last(tally, rollout_name("select", "exact")), selected == label ? 1 : 0);
    EXPECT_EQ(last(tally, rollout_name("any", "exact")), 1);
    const bool is_most = votes[label] > votes[0] && votes[label] > votes[3 - label];
    EXPECT_TRUE(!is_most || last(tally, rollout_name("majority", "exact")) == 1);
    const int average = sums[0] >= sums[1] ? 1 : 2;
    EXPECT_EQ(last(tally, rollout_name("average", "exact")), average == label ? 1 : 0);
    const double x = sums[0] / kRollouts - 1;
    const double y = sums[1] / kRollouts - 1;
    // Sums of nine floats of size 3 in another precision.
    EXPECT_NEAR(last(tally, kRolloutDivergence), std::sqrt(x * x + y * y), 1e-6);
  }
}

TEST(Rollouts, TheSettledTrajectoryIsTheOneThatChangedLeast) {
  // Each step adds its noise to z_L, and the logits change by that: the last three of five count.
  constexpr int64_t kSteps = 5;
  double least = 1e9;
  int settled = -1;
  for (uint64_t rollout = 0; rollout < kRollouts; ++rollout) {
    std::array<float, 3> logits = {0, 1, 1};
    double change = 0;
    for (uint64_t step = 1; step <= kSteps; ++step) {
      Rng rng(mix_seeds({kSeed, kFirstBoard, rollout, step}));
      const double x = kNoise * rng.gaussian();
      const double y = kNoise * rng.gaussian();
      logits[1] += static_cast<float>(x);
      logits[2] += static_cast<float>(y);
      if (step > kSteps - kSettlingWindow) change += std::hypot(x, y);
    }
    if (change >= least) continue;
    least = change;
    settled = static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  for (int label = 1; label <= 2; ++label) {
    const Tally tally =
        run(testing::example_of(1, static_cast<uint8_t>(label)), kNoise, kRollouts, kSteps);
    EXPECT_EQ(last(tally, rollout_name("settled", "exact")), settled == label ? 1 : 0);
  }
}

TEST(Rollouts, ASeedGivesTheSameNoise) {
  const task::Example example = testing::example_of(1, 1);
  EXPECT_EQ(run(example, kNoise, kRollouts), run(example, kNoise, kRollouts));
}

/// Counts how often all states come from a device that forgets its copy when anything changes.
class DeviceReasoner : public testing::LinearReasoner {
 public:
  using LinearReasoner::LinearReasoner;
  [[nodiscard]] int64_t transfers() const { return transfers_; }
  void reset(int64_t slot, const reason::Board& board) override {
    has_copy_ = false;
    LinearReasoner::reset(slot, board);
  }
  void step(std::span<const int64_t> slots, reason::StepObserver* observer) override {
    has_copy_ = false;
    LinearReasoner::step(slots, observer);
  }
  void set_states(int64_t slot, const reason::States& states) override {
    has_copy_ = false;
    LinearReasoner::set_states(slot, states);
  }
  [[nodiscard]] reason::States states(int64_t slot) const override {
    if (!has_copy_) ++transfers_;
    has_copy_ = true;
    return LinearReasoner::states(slot);
  }

 private:
  mutable bool has_copy_ = false;
  mutable int64_t transfers_ = 0;
};

TEST(Rollouts, NoiseReadsTheStatesOfAllBoardsOnceAStep) {
  constexpr int64_t kBoards = 5;
  constexpr int64_t kSteps = 3;
  const std::vector<task::Example> examples(kBoards, testing::example_of(2, 1));
  const std::vector<reason::Board> boards(kBoards, {.tokens = examples[0].input});
  DeviceReasoner reasoner({}, kBoards);
  Tally tally;
  run_rollouts(reasoner, testing::linear_task(),
               {.examples = examples,
                .boards = boards,
                .first_board = 0,
                .float_latent = {kBoards, {2, 1}},
                .float_answers = {kBoards, examples[0].label}},
               {.rollouts = 2, .noise = kNoise, .seed = kSeed, .steps = kSteps}, tally);
  // Before each step, and the last states of each trajectory.
  EXPECT_EQ(reasoner.transfers(), 2 * (kSteps + 1));
}

}  // namespace
}  // namespace driftless::study
