// SPDX-License-Identifier: Apache-2.0
// What can be seen of a supervision step while it runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace driftless::reason {

/// StateL, StateH: [T, D] after a network call that updates it. LinearInput: the rows that enter
/// one linear layer in float, smoothed and rotated where a plan says so, before any quantization.
/// QuantizedInput: the same rows as the layer multiplies them, right after LinearInput; only for
/// layers whose activations are quantized. Logits: [S, V]. HaltLogits: [1, 2], halt and continue.
enum class Point { StateL, StateH, LinearInput, QuantizedInput, Logits, HaltLogits };

/// Element (r, c) lies at data[r * row_stride + c * column_stride].
struct StridedView {
  const float* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 1;

  [[nodiscard]] float at(int64_t row, int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

struct Observation {
  Point point;
  int64_t slot = 0;
  /// Index into model::schedule: which network call of the step. Heads come after the last one.
  int64_t call = 0;
  /// LinearInput, QuantizedInput: the weight's name in the checkpoint. Empty otherwise.
  std::string_view layer = {};
  /// A backend may show a layer's input in several pieces; this is where the piece starts.
  int64_t first_row = 0;
  StridedView values = {};
};

/// Sees values where they lie, without copies; they are valid during the call only.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  [[nodiscard]] virtual bool wants(Point point) const = 0;
  /// Whether the smallest and the largest value of a board's piece are all that counts. A backend
  /// whose values lie on another device may then show these two, as one row, in their place.
  [[nodiscard]] virtual bool wants_extremes_only() const { return false; }
  virtual void observe(const Observation& observation) = 0;
};

}  // namespace driftless::reason
