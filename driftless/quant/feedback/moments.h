// SPDX-License-Identifier: Apache-2.0
// Second moments of a layer's inputs, which say how much an error in one of its weights costs and
// which other weights can make up for it.
#pragma once

#include <cstdint>
#include <vector>

#include "driftless/quant/mat_view.h"

namespace driftless::quant {

/// Sums over rows of inputs; matrices are [length, length], row-major.
class InputMoments {
 public:
  /// Both as the layer multiplies them.
  void add(ConstMat inputs);
  /// `inputs` as the layer multiplies them, `exact` the same rows before they were quantized.
  void add(ConstMat inputs, ConstMat exact);
  void merge(const InputMoments& other);

  [[nodiscard]] int64_t length() const noexcept { return length_; }
  [[nodiscard]] int64_t rows() const noexcept { return rows_; }
  /// Sum of x x^T, symmetric.
  [[nodiscard]] std::vector<double> squares() const;
  /// Sum of exact x^T; empty where nothing but add(inputs) was called.
  [[nodiscard]] const std::vector<double>& crossed() const noexcept { return crossed_; }

 private:
  void start(int64_t length);

  int64_t length_ = 0;
  int64_t rows_ = 0;
  std::vector<double> upper_;  // of squares: columns from the row's on
  std::vector<double> crossed_;
  std::vector<float> left_, right_;  // rows with zeros up to whole tiles
};

}  // namespace driftless::quant
