// SPDX-License-Identifier: Apache-2.0
// Linear maps, for which every quantity is known: F(s) = s / 2 has the modulus 1/2.
#include "driftless/study/measure/dynamics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "driftless/study/lockstep.h"

#include "tests/study/linear_reasoner.h"

namespace driftless::study {
namespace {

constexpr int64_t kDynamicsSteps = 4;
// The perturbation is 1e-3 of the state and both are rounded to 24 bits: 2^-24 / 1e-3 < 1e-4.
constexpr double kStretchTolerance = 1e-3;

Tally measure(const testing::LinearStep& other) {
  const task::Task task = testing::linear_task();
  const std::vector<task::Example> examples = {testing::example_of(2, 1), testing::example_of(1, 1),
                                               testing::example_of(0, 2)};
  const Backend backend = testing::linear_backend({.gain = 0.5}, other);
  const Subject subject{.plan = {.layers = {{.name = "any"}}}, .dynamics = true};
  Lockstep lockstep({.config = testing::linear_config(), .steps = kDynamicsSteps, .batch = 3}, task,
                    backend, std::vector{subject});
  return lockstep.run(examples, 0).at(0).tally;
}

double mean(const Tally& tally, const std::string& name, size_t index = 0) {
  return tally.series(dynamics_name(name))[index].mean();
}

TEST(Dynamics, ConstantBias) {
  const Tally tally = measure({.gain = 0.5, .bias = {3, 4}});
  const double epsilon = 5 * std::sqrt(2.0);  // the bias in both states
  for (size_t step = 0; step < kDynamicsSteps; ++step) {
    EXPECT_NEAR(mean(tally, "epsilon", step), epsilon, 1e-5);
    EXPECT_NEAR(mean(tally, "L", step), 0.5, kStretchTolerance);
  }
  for (size_t step = 1; step < kDynamicsSteps; ++step) {
    EXPECT_NEAR(mean(tally, "delta", step), 0, 1e-6);
    EXPECT_NEAR(mean(tally, "L_path", step), 0.5, 1e-6);
  }
  EXPECT_NEAR(mean(tally, "modulus"), 0.5, kStretchTolerance);
  EXPECT_EQ(mean(tally, "is_contractive"), 1);
  EXPECT_NEAR(mean(tally, "mean_epsilon"), epsilon, 1e-5);
  EXPECT_NEAR(mean(tally, "mean_error"), epsilon, 1e-5);
  EXPECT_NEAR(mean(tally, "bias_share"), 1, 1e-6);
  // The fixed point moves by epsilon / (1 - 1/2); after four steps 15/16 of that are reached.
  EXPECT_NEAR(mean(tally, "predicted"), 2 * epsilon, 4 * epsilon * kStretchTolerance);
  EXPECT_NEAR(mean(tally, "observed"), 2 * epsilon * 15 / 16, 1e-4);
}

TEST(Dynamics, ErrorInProportionToTheState) {
  // G(s) - F(s) = s / 4: it varies by a quarter of the distance.
  const Tally tally = measure({.gain = 0.75});
  EXPECT_NEAR(mean(tally, "delta", 1), 0.25, 1e-6);
  // Boards start at norms sqrt(2) * (sqrt(5), sqrt(2), 1).
  EXPECT_NEAR(mean(tally, "epsilon", 0),
              std::sqrt(2.0) * (std::sqrt(5.0) + std::sqrt(2.0) + 1) / 3 / 4, 1e-6);
}

TEST(Dynamics, FloatModelAgainstItself) {
  const task::Task task = testing::linear_task();
  const std::vector<task::Example> examples = {testing::example_of(2, 1)};
  const Backend backend = testing::linear_backend({.gain = 2}, {});
  Lockstep lockstep({.config = testing::linear_config(), .steps = 2, .batch = 1}, task, backend,
                    std::vector{Subject{.plan = {}, .dynamics = true}});
  const Tally tally = lockstep.run(examples, 0).at(0).tally;
  EXPECT_EQ(mean(tally, "epsilon"), 0);
  EXPECT_NEAR(mean(tally, "modulus"), 2, 4 * kStretchTolerance);
  EXPECT_EQ(mean(tally, "is_contractive"), 0);
  EXPECT_FALSE(tally.has(dynamics_name("predicted"))) << "no fixed point to predict";
  EXPECT_FALSE(tally.has(dynamics_name("delta"))) << "no displacement to compare over";
}

}  // namespace
}  // namespace driftless::study
