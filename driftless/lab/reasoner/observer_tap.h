// SPDX-License-Identifier: Apache-2.0
// Shows a StepObserver what a tap sees: copies to the host, board by board.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <ATen/ATen.h>

#include "driftless/lab/net/step_tap.h"
#include "driftless/reason/observer.h"

namespace driftless::lab {

class ObserverTap : public StepTap {
 public:
  /// Board i of a tensor is in slots[i].
  ObserverTap(reason::StepObserver& observer, std::span<const int64_t> slots)
      : observer_(observer), slots_(slots) {}

  [[nodiscard]] bool taps_linear_inputs() const override {
    return observer_.wants(reason::Point::LinearInput) ||
           observer_.wants(reason::Point::QuantizedInput);
  }
  at::Tensor linear_input(std::string_view layer, int64_t call, const at::Tensor& input) override;
  void quantized_input(std::string_view layer, int64_t call, const at::Tensor& values) override;
  void state(model::State which, int64_t call, const at::Tensor& values) override;

  /// values [boards, rows, columns]; does nothing for a point that is not wanted.
  void show(const reason::Observation& what, const at::Tensor& values);

 private:
  reason::StepObserver& observer_;
  std::span<const int64_t> slots_;
};

}  // namespace driftless::lab
