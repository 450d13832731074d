// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/loss.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

at::Tensor bytes(const std::vector<int64_t>& values, const std::vector<int64_t>& shape) {
  return at::tensor(values).to(at::kByte).view(shape);
}

TEST(Stablemax, HandComputedValues) {
  // s(0) = 1, s(1) = 2, s(-1) = 1/2, sum 3.5.
  const at::Tensor logits = at::tensor({0.0f, 1.0f, -1.0f}).view({1, 1, 3}).expand({1, 3, 3});
  const at::Tensor loss = stablemax_cross_entropy(logits, bytes({0, 1, 2}, {1, 3}));
  // float32 logarithms of numbers near 1: a few units of 2^-24.
  EXPECT_NEAR(loss[0][0].item<double>(), std::log(3.5), 1e-6);
  EXPECT_NEAR(loss[0][1].item<double>(), std::log(3.5 / 2), 1e-6);
  EXPECT_NEAR(loss[0][2].item<double>(), std::log(7.0), 1e-6);
}

TEST(Stablemax, GradientIsFiniteAtThePoleOfTheOtherBranch) {
  const at::Tensor logits = at::tensor({1.0f, -3.0f}).view({1, 1, 2}).set_requires_grad(true);
  torch::autograd::backward({stablemax_cross_entropy(logits, bytes({0}, {1, 1})).sum()}, {});
  // s = 2 and 1/4: d/dl0 log(9/4) - log 2 = 4/9 - 1/2; d/dl1 = s1^2 / sum = (1/16) / (9/4).
  EXPECT_NEAR(logits.grad()[0][0][0].item<double>(), 4.0 / 9 - 0.5, 1e-6);
  EXPECT_NEAR(logits.grad()[0][0][1].item<double>(), 1.0 / 36, 1e-6);
}

TEST(Loss, CountsOnlyLabeledCellsAndAveragesPerBoard) {
  // Two boards of two cells and three tokens; the second cell of board 1 does not count.
  const at::Tensor logits =
      at::tensor({0.f, 1.f, -1.f, 0.f, -1.f, 1.f, 0.f, -1.f, 1.f, 9.f, 0.f, 0.f}).view({2, 2, 3});
  const at::Tensor labels = bytes({1, 1, 2, 0}, {2, 2});
  const at::Tensor halt = at::tensor({0.0f, 2.0f});
  const Loss got = loss(logits, halt, labels);
  const double answer = (std::log(1.75) + std::log(7.0)) / 2 + std::log(1.75);
  // Board 0 is wrong (second cell), board 1 right: log 2 and log(1 + e^-2).
  const double halting = std::log(2.0) + std::log1p(std::exp(-2.0));
  EXPECT_NEAR(got.answer.item<double>(), answer, 1e-5);
  EXPECT_NEAR(got.halting.item<double>(), halting, 1e-5);
  EXPECT_NEAR(got.total.item<double>(), answer + halting / 2, 1e-5);
  EXPECT_FALSE(got.is_exact[0].item<bool>());
  EXPECT_TRUE(got.is_exact[1].item<bool>());
  EXPECT_DOUBLE_EQ(got.cell_rate[0].item<double>(), 0.5);
  EXPECT_DOUBLE_EQ(got.cell_rate[1].item<double>(), 1.0);
}

TEST(ContinueLoss, TargetIsWhatTheNextStepPromises) {
  // Targets: sigmoid(max(1, -1)), sigmoid(max(0, 2)), and sigmoid(1) although 3 is larger.
  const at::Tensor got =
      continue_loss(at::tensor({0.0f, 1.0f, -1.0f}), at::tensor({1.f, 0.f, 1.f}),
                    at::tensor({-1.f, 2.f, 3.f}), at::tensor({0, 0, 1}).to(at::kBool));
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto entropy = [&](double logit, double target) {
    return -target * std::log(sigmoid(logit)) - (1 - target) * std::log(1 - sigmoid(logit));
  };
  const double want = entropy(0, sigmoid(1)) + entropy(1, sigmoid(2)) + entropy(-1, sigmoid(1));
  EXPECT_NEAR(got.item<double>(), want, 1e-5);
}

TEST(Loss, RefusesLabelsOfAnotherShape) {
  expect_error(ErrorCode::InvalidArgument, "labels", [] {
    stablemax_cross_entropy(at::zeros({1, 4, 3}), at::zeros({1, 5}, at::kByte));
  });
}

}  // namespace
}  // namespace driftless::lab
