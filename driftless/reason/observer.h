// SPDX-License-Identifier: Apache-2.0
// What can be seen of a supervision step while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "driftless/quant/scale.h"

namespace driftless::reason {

/// StateL, StateH: [T, D] after a network call that updates it. LinearInput: the rows that enter
/// one linear layer in float, smoothed and rotated where a plan says so, before any quantization.
/// QuantizedInput: the same rows as the layer multiplies them, right after LinearInput; only for
/// layers whose activations are quantized. Logits: [S, V]. HaltLogits: [1, 2], halt and continue.
enum class Point { StateL, StateH, LinearInput, QuantizedInput, Logits, HaltLogits };

struct PointName {
  Point point;
  std::string_view name;
};
inline constexpr std::array<PointName, 6> kPointNames = {
    {{Point::StateL, "state-l"},
     {Point::StateH, "state-h"},
     {Point::LinearInput, "linear-input"},
     {Point::QuantizedInput, "quantized-input"},
     {Point::Logits, "logits"},
     {Point::HaltLogits, "halt-logits"}}};

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

/// What an observer looks at: values, or only the least and the largest of them.
enum class Detail : uint8_t { Values, Extents };

/// Sees values where they lie, without copies; they are valid during the call only.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  [[nodiscard]] virtual bool wants(Point point) const = 0;
  virtual void observe(const Observation& observation) = 0;

  /// With Extents a backend whose values lie elsewhere may call observe_extent in place of observe,
  /// for any number of values of one layer and call; `where` has no values then. Zero is within
  /// every extent.
  [[nodiscard]] virtual Detail detail() const { return Detail::Values; }
  virtual void observe_extent(const Observation& /*where*/, quant::Extent /*extent*/,
                              int64_t /*count*/) {}
};

}  // namespace driftless::reason
