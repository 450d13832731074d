// SPDX-License-Identifier: Apache-2.0
// One linear layer of the simulator: its input as the plan wants it (LinearInput), times its
// weight.
#pragma once

#include <string>

#include "driftless/simulate/linear_input.h"
#include "driftless/simulate/product/matmul.h"

namespace driftless::simulate {

class Linear {
 public:
  /// The layer whose weight [outputs, K] has that name. Lie::Rows: from [rows, K] to [rows,
  /// outputs]; Lie::Columns: from [K, rows] to [outputs, rows]. The result is dense.
  Linear(const Build& build, const std::string& name, const LinearInput::Shape& shape);

  [[nodiscard]] int64_t outputs() const { return outputs_; }
  [[nodiscard]] int64_t scratch_size() const { return input_.scratch_size(); }

  /// `rows` and `scratch` are those of LinearInput::prepare.
  void run(const Work& work, const float* source, const PartRows& rows, float* scratch,
           float* out) const;

 private:
  /// Adds what the changes of the inputs bring to the outputs there were.
  void add_up(const Work& work, const PartRows& rows, float* out) const;

  int64_t outputs_;
  int64_t part_rows_;
  LinearInput input_;
  Matmul product_;
  int64_t memory_ = 0;  // of outputs, in Work::memory; where inputs are changes
};

}  // namespace driftless::simulate
