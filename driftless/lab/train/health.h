// SPDX-License-Identifier: Apache-2.0
// Whether everything a training step computes is finite, found out on the device: the first step
// with a number that is not, and in which tensor. Nothing here waits but first_bad().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/ATen.h>

#include "driftless/lab/ranks/ranks.h"

namespace driftless::lab {

/// What is looked at, in the order of a step.
enum class Watched : uint8_t {
  Scales,
  StateL,
  StateH,
  Logits,
  HaltLogits,
  AnswerLoss,
  HaltLoss,
  Gradients
};
inline constexpr size_t kWatchedCount = 8;

/// As messages call it.
std::string_view to_string(Watched what);

/// The first tensor of a step that was not finite.
struct BadStep {
  int64_t step;
  Watched what;
};

class Health {
 public:
  explicit Health(at::Device device);

  /// Looks at the tensors, in the order of Watched. All ranks come to the same verdict.
  void watch(const at::Tensor& step, const std::array<at::Tensor, kWatchedCount>& tensors,
             Ranks& ranks);

  /// Bool: a step was not finite. It stays set.
  [[nodiscard]] const at::Tensor& is_bad() const { return is_bad_; }

  /// The first step that was not finite, if any. Waits for the device.
  [[nodiscard]] std::optional<BadStep> first_bad() const;

 private:
  at::Tensor is_bad_;
  at::Tensor step_;
  at::Tensor flags_;
};

}  // namespace driftless::lab
