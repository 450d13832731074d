// SPDX-License-Identifier: Apache-2.0
// Small tensors that several tests are made of.
#pragma once

#include <vector>

#include <ATen/ATen.h>

namespace driftless::lab::testing {

/// sin(0), sin(increment), sin(2 increment), ...: float64 without a draw.
inline at::Tensor waves(const std::vector<int64_t>& sizes, double increment) {
  const int64_t count = c10::multiply_integers(sizes);
  return at::sin(at::arange(count, at::kDouble) * increment).view(sizes);
}

/// One truth value, such as whether a training step has gone wrong.
inline at::Tensor flag(bool value) { return at::full({}, value, at::kBool); }

}  // namespace driftless::lab::testing
