// SPDX-License-Identifier: Apache-2.0
// Two boards whose trajectories are computed by hand. Reference: s <- s / 2. Other: s <- s / 2 +
// (0, 3). Board A starts at (2, 1), board B at (0, 1):
//
//              A: reference   other         B: reference   other
//   step 1     (1, 0.5)       (1, 3.5)      (0, 0.5)       (0, 3.5)
//   step 2     (0.5, 0.25)    (0.5, 4.75)   (0, 0.25)      (0, 4.75)
//
// Displacements are (0, 3) and (0, 4.5) on both boards. The reference answers 1 on A, 2 on B; the
// other answers 2 on both. On A the reference wants to halt and the other does not.
#include "driftless/study/measure/trajectory.h"

#include <cmath>

#include <gtest/gtest.h>

#include "driftless/study/lockstep.h"
#include "driftless/study/measure/metrics.h"

#include "tests/study/linear_reasoner.h"

namespace driftless::study {
namespace {

class Trajectory : public ::testing::Test {
 protected:
  void SetUp() override {
    const task::Task task = testing::linear_task();
    const std::vector<task::Example> examples = {testing::example_of(2, 1),
                                                 testing::example_of(0, 2)};
    const Backend backend = testing::linear_backend({.gain = 0.5}, {.gain = 0.5, .bias = {0, 3}});
    const Subject subject{.plan = {.layers = {{.name = "any"}}}, .coherence = true};
    Lockstep lockstep({.config = testing::linear_config(), .steps = 2, .batch = 2}, task, backend,
                      std::vector{subject});
    tally_ = lockstep.run(examples, 0).at(0).tally;
  }

  [[nodiscard]] std::vector<double> means(std::string_view name) const {
    std::vector<double> result;
    for (const Moments& moments : tally_.series(name)) {
      EXPECT_EQ(moments.n, 2) << name;
      result.push_back(moments.mean());
    }
    return result;
  }

  Tally tally_;
};

using Values = std::vector<double>;

TEST_F(Trajectory, Divergences) {
  EXPECT_EQ(means("latent_divergence"), (Values{3, 4.5}));
  EXPECT_EQ(means("answer_divergence"), (Values{3, 4.5}));
  EXPECT_EQ(means("logit_divergence"), (Values{3, 4.5}));
  EXPECT_DOUBLE_EQ(means("state_norm")[0], (std::sqrt(1.25) + 0.5) / 2);
}

TEST_F(Trajectory, Accuracy) {
  EXPECT_EQ(means("float_exact"), (Values{1, 1}));
  EXPECT_EQ(means("exact"), (Values{0.5, 0.5}));
  EXPECT_EQ(means("lost"), (Values{0.5, 0.5}));
  EXPECT_EQ(means("gained"), (Values{0, 0}));
  EXPECT_EQ(means("float_cells"), (Values{1, 1}));
  EXPECT_EQ(means("cells"), (Values{0.5, 0.5}));
}

TEST_F(Trajectory, Residuals) {
  // Both states change alike, which makes a factor sqrt(2). Reference at step 2: (0.5, 0.25) and
  // (0, 0.25); other at step 1: (1, 2.5) and (0, 2.5).
  EXPECT_DOUBLE_EQ(means("float_residual")[1], std::sqrt(2.0) * (std::sqrt(0.3125) + 0.25) / 2);
  EXPECT_DOUBLE_EQ(means("residual")[0], std::sqrt(2.0) * (std::sqrt(7.25) + 2.5) / 2);
}

TEST_F(Trajectory, Fidelity) {
  const double a = (1 + 0.5 * 3.5) / std::sqrt(1.25 * 13.25);
  EXPECT_DOUBLE_EQ(means("fidelity")[0], (a + 1) / 2);
  const double a2 = (0.25 + 0.25 * 4.75) / std::sqrt(0.3125 * 22.8125);
  EXPECT_DOUBLE_EQ(means(kPathFidelity)[0], ((a + a2) / 2 + 1) / 2);
}

TEST_F(Trajectory, HaltingFlips) {
  EXPECT_EQ(means("halt_flip"), (Values{0.5, 0.5}));
  EXPECT_EQ(means(kHaltStepDiffers), (Values{0.5}));
}

TEST_F(Trajectory, CoherenceOfOneDirectionIsOne) {
  ASSERT_EQ(tally_.series("step_cosine").size(), 2u);
  EXPECT_EQ(tally_.series("step_cosine")[0].n, 0);
  EXPECT_EQ(tally_.series("step_cosine")[1].mean(), 1);
  const std::vector<StepCoherence> steps = coherence(tally_, 2);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].across_boards, 1);
  EXPECT_EQ(steps[1].direction_cosine, 1);
}

TEST(TrajectoryCoherence, OppositeDisplacementsCancel) {
  Tally tally;
  for (const double sign : {1.0, -1.0}) {
    tally.add("latent_divergence", 0, 5);
    tally.add_vector(displacement_name(0), std::vector<double>{3 * sign, 4});
  }
  // The mean displacement is (0, 4), the mean norm 5.
  EXPECT_DOUBLE_EQ(coherence(tally, 1).at(0).across_boards, 0.8);
  EXPECT_TRUE(coherence(tally, 2).empty()) << "no second step was measured";
}

}  // namespace
}  // namespace driftless::study
