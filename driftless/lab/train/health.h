// SPDX-License-Identifier: Apache-2.0
// Whether everything a training step computes is finite, found out on the device: the first step
// with a number that is not, and in which tensor. Nothing here waits but describe().
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <ATen/ATen.h>

#include "driftless/lab/ranks/ranks.h"

namespace driftless::lab {

/// What is looked at, in the order of a step.
inline constexpr std::array<const char*, 8> kWatched = {
    "quantizer scale", "z_L",         "z_H",          "logits",
    "halting logit",   "answer loss", "halting loss", "gradients"};

class Health {
 public:
  explicit Health(at::Device device);

  /// Looks at the tensors of kWatched. All ranks come to the same verdict.
  void watch(const at::Tensor& step, const std::array<at::Tensor, kWatched.size()>& tensors,
             Ranks& ranks);

  /// Bool: a step was not finite. It stays set.
  [[nodiscard]] const at::Tensor& is_bad() const { return is_bad_; }

  /// "step 12: logits" while something was not finite, else empty. Waits for the device.
  [[nodiscard]] std::string describe() const;

 private:
  at::Tensor is_bad_;
  at::Tensor step_;
  at::Tensor flags_;
};

}  // namespace driftless::lab
