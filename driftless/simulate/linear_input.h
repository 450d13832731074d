// SPDX-License-Identifier: Apache-2.0
// What happens to the input of one linear layer before the product: it is shown to the observer,
// and smoothed, rotated and quantized as the plan says, or what it has changed by is. A layer
// without a plan is multiplied where it lies.
#pragma once

#include <optional>
#include <string>

#include "driftless/quant/plan/planned_layer.h"
#include "driftless/simulate/block.h"
#include "driftless/simulate/product/matmul.h"

namespace driftless::simulate {

/// How the rows of an input lie. Rows: [rows, length], dense. Columns: [length, rows], as a token
/// mixer has them: a row of the input is a channel, which is a column of the state.
enum class Lie : uint8_t { Rows, Columns };

/// The rows of a part that are its input, and the number of the first one within the board.
struct PartRows {
  int64_t count;
  int64_t first;
};
inline PartRows rows_of(const Layout& layout, int64_t part) {
  return {real_rows(layout, part), part * layout.part_rows};
}

class LinearInput {
 public:
  struct Shape {
    int64_t rows;    // of one part, padding included
    int64_t stride;  // of the source: between its rows (Lie::Rows) or its positions (Lie::Columns)
    Lie lie = Lie::Rows;
  };

  /// For the layer whose weight has that name.
  LinearInput(const Build& build, std::string name, const Shape& shape);

  /// Reduction length of the product: that of the weight in Build.
  [[nodiscard]] int64_t length() const { return length_; }
  /// How to multiply: as integers where Build says so, in bf16 where that changes no operand and
  /// the processor is made for it, otherwise in Build's type.
  [[nodiscard]] const Arithmetic& arithmetic() const { return arithmetic_; }
  /// Whether prepare() returns what the input has changed by, quantized, not the input.
  [[nodiscard]] bool is_change() const { return layer_ && layer_->plan().delta; }
  /// Rows of a whole board, padding included.
  [[nodiscard]] static int64_t all_rows(const Build& build, const Shape& shape) {
    return shape.lie == Lie::Rows ? build.layout.padded_rows : build.layout.width;
  }
  /// Of what prepare() returns.
  [[nodiscard]] int64_t stride() const;
  [[nodiscard]] int64_t scratch_size() const;

  /// The values that the product multiplies: `source` itself, or a copy in `scratch` that lies in
  /// the same way. Rows of the part after its input become zero in the copy. Observers see the last
  /// of several passes.
  const float* prepare(const Work& work, const float* source, const PartRows& rows, float* scratch,
                       bool is_last_pass = true) const;

 private:
  void prepare_rows(const Work& work, const float* source, const PartRows& part, float* out) const;
  void prepare_columns(const Work& work, const float* source, int64_t first_row, float* out) const;
  void transposed(const Work& work, const float* source, int64_t first_row, float* out) const;
  /// Rows `in` from `first_row` on into `out`. Returns the values that they stand for.
  const float* quantize(const Work& work, int64_t first_row, quant::ConstMat in,
                        quant::Mat out) const;
  void show(const Work& work, reason::Point point, int64_t first_row,
            const reason::StridedView& values) const;
  [[nodiscard]] reason::StridedView view(const float* values, int64_t rows, int64_t stride,
                                         int64_t length) const;

  std::string name_;
  Shape shape_;
  int64_t inputs_;  // before the transforms
  int64_t length_;
  Arithmetic arithmetic_;
  std::optional<quant::PlannedLayer> layer_;  // where the plan changes the input
  int64_t memory_ = 0;  // in Work::memory, of the inputs that changes have added up to
};

}  // namespace driftless::simulate
