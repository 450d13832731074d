// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/carry.h"

#include <gtest/gtest.h>

#include "driftless/lab/device/device.h"
#include "driftless/lab/device/ops.h"

#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

at::Tensor bytes(const std::vector<int64_t>& values) { return at::tensor(values).to(at::kByte); }

// Four slots of boards with one cell and states of one value.
Carry four_slots(const std::vector<int64_t>& steps, const at::Tensor& halted) {
  return {{at::full({4, 1, 1}, 7.0f), at::full({4, 1, 1}, 8.0f)},
          bytes({1, 2, 3, 4}).view({4, 1}),
          bytes({5, 6, 7, 8}).view({4, 1}),
          at::tensor(steps).to(at::kInt),
          halted,
          at::tensor({11, 12, 13, 14}, at::kInt)};
}

TEST(Carry, OnlyHaltedSlotsAreRefilled) {
  const at::Tensor halted = bytes({0, 1, 0, 1}).to(at::kBool);
  Carry carry = four_slots({3, 16, 1, 4}, halted);
  const FreshBoards fresh{bytes({10, 20, 30, 40}).view({4, 1}),
                          bytes({50, 60, 70, 80}).view({4, 1}), bytes({0, 0, 0, 0}),
                          at::tensor({21, 22, 23, 24}, at::kInt)};
  const TensorStates states = refill(carry, fresh, {at::tensor({-1.0f}), at::tensor({-2.0f})});
  EXPECT_TRUE(at::equal(carry.inputs.view({4}), bytes({1, 20, 3, 40})));
  EXPECT_TRUE(at::equal(carry.labels.view({4}), bytes({5, 60, 7, 80})));
  EXPECT_TRUE(at::equal(carry.puzzles, at::tensor({11, 22, 13, 24}, at::kInt)));
  EXPECT_TRUE(at::equal(carry.steps, at::tensor({3, 0, 1, 0}, at::kInt)));
  EXPECT_TRUE(at::equal(states.h.view({4}), at::tensor({7.0f, -1.0f, 7.0f, -1.0f})));
  EXPECT_TRUE(at::equal(states.l.view({4}), at::tensor({8.0f, -2.0f, 8.0f, -2.0f})));
}

TEST(Carry, HaltsAtTheLimitOrWhenTheLogitSaysSoAfterTheLeastSteps) {
  Carry carry = four_slots({15, 3, 3, 3}, at::zeros({4}, at::kBool));
  // Slot 0 reaches 16; slot 1 wants to halt; slot 2 wants to but must run 5; slot 3 does not.
  const StepOutput output{carry.states, {}, at::tensor({-1.0f, 0.5f, 0.5f, 0.0f}), {}};
  advance(carry, output, {{}, {}, bytes({0, 0, 5, 0}), {}}, model::ModelConfig{});
  EXPECT_TRUE(at::equal(carry.steps, at::tensor({16, 4, 4, 4}, at::kInt)));
  EXPECT_TRUE(at::equal(carry.halted, bytes({1, 1, 0, 0}).to(at::kBool)));
}

TEST(Carry, HrmHaltsWhenItsHaltLogitExceedsTheContinueLogit) {
  Carry carry = four_slots({15, 3, 3, 3}, at::zeros({4}, at::kBool));
  const StepOutput output{carry.states,
                          {},
                          at::tensor({-9.0f, -1.0f, 2.0f, 2.0f}),
                          at::tensor({0.0f, -2.0f, 3.0f, 1.0f})};
  model::ModelConfig config;
  config.arch = model::Arch::Hrm;
  advance(carry, output, {{}, {}, bytes({0, 0, 0, 9}), {}}, config);
  EXPECT_TRUE(at::equal(carry.halted, bytes({1, 1, 0, 0}).to(at::kBool)));
}

/// Rank 1 of 2, with a sibling that holds the same.
struct SecondOfTwo : Ranks {
  [[nodiscard]] int64_t rank() const override { return 1; }
  [[nodiscard]] int64_t size() const override { return 2; }
  void sum(at::Tensor& values) override { values.mul_(2); }
  at::Tensor gather(const at::Tensor& part) override { return at::cat({part, part}); }
};

TEST(Carry, RanksShareItsSlots) {
  const Carry whole = four_slots({15, 3, 2, 1}, bytes({0, 1, 0, 1}).to(at::kBool));
  SecondOfTwo ranks;
  const Carry mine = share_of(whole, ranks);
  EXPECT_TRUE(at::equal(mine.steps, at::tensor({2, 1}, at::kInt)));
  EXPECT_TRUE(at::equal(mine.inputs, bytes({3, 4}).view({2, 1})));
  EXPECT_TRUE(at::equal(gather(mine, ranks).steps, at::tensor({2, 1, 2, 1}, at::kInt)));
}

TEST(Carry, TallyAveragesOverHaltedBoards) {
  Carry carry = four_slots({16, 4, 2, 2}, bytes({1, 1, 0, 0}).to(at::kBool));
  const StepOutput output{carry.states, {}, at::tensor({-1.0f, 0.5f, 9.0f, 9.0f}), {}};
  Loss loss;
  loss.answer = at::full({}, 8.0f);
  loss.halting = at::full({}, 4.0f);
  loss.cell_rate = at::tensor({0.5f, 1.0f, 0.0f, 0.0f});
  loss.is_exact = bytes({0, 1, 0, 0}).to(at::kBool);
  at::Tensor sums = at::zeros({kTallySums}, at::kDouble);
  add_to_tally(sums, carry, output, loss);
  Ranks alone;
  const TrainingTally tally = take_tally(sums, 4, alone);
  EXPECT_EQ(tally.steps, 1);
  EXPECT_EQ(tally.halted, 2);
  EXPECT_DOUBLE_EQ(tally.answer_loss, 2.0);
  EXPECT_DOUBLE_EQ(tally.halting_loss, 1.0);
  EXPECT_DOUBLE_EQ(tally.cell_rate, 0.75);
  EXPECT_DOUBLE_EQ(tally.exact_rate, 0.5);
  EXPECT_DOUBLE_EQ(tally.halt_rate, 1.0);
  EXPECT_DOUBLE_EQ(tally.mean_steps, 10.0);
  EXPECT_EQ(take_tally(sums, 4, alone).steps, 0);
}

TEST(Device, NamesAreCheckedAndAbsenceSaysHow) {
  EXPECT_TRUE(find_device("cpu").is_cpu());
  expect_error(ErrorCode::InvalidArgument, "tpu", [] { find_device("tpu"); });
}

TEST(Ops, WrongShapes) {
  expect_error(ErrorCode::InvalidArgument, "even number",
               [] { swiglu_forward(at::zeros({3}), 1); });
  expect_error(ErrorCode::InvalidArgument, "gradients", [] {
    swiglu_backward(at::zeros({1, 4}), at::zeros({3}), 1);
  });
  expect_error(ErrorCode::InvalidArgument, "axes", [] {
    residual_norm_forward(at::zeros({3}), at::zeros({3}), NormAxis::Channels, 1e-5);
  });
  expect_error(ErrorCode::InvalidArgument, "another shape", [] {
    residual_norm_forward(at::zeros({1, 2, 3}), at::zeros({1, 2, 4}), NormAxis::Channels, 1e-5);
  });
}

}  // namespace
}  // namespace driftless::lab
