// SPDX-License-Identifier: Apache-2.0
// Swiglu over the columns of a matrix, as token mixing needs it: out = down(silu(gate(h)) * up(h))
// for each column of h [K, columns], a panel of columns at a time. Here the weights are the left
// factor and the activations the panel, so that nothing is transposed: blocks run across vectors,
// one column a lane, and the output lies as the state does. What one panel needs stays in the
// first-level cache.
#pragma once

#include "driftless/native/swiglu.h"

namespace driftless::native {

class ColumnSwiglu {
 public:
  /// What run() works in; one for each thread.
  struct Scratch {
    AlignedVector<int8_t> input;  ///< panels, [step][column][4]
    AlignedVector<int8_t> hidden;
    AlignedVector<uint8_t> scales;  ///< [block][column] of the panel in work
    AlignedVector<float> tiles;     ///< gates, ups and products of one block, [32][column] each
  };

  /// Whether the set has encoders for these activations and all integers fit bytes.
  static bool suits(const SwigluWeights& weights, const SwigluActs& acts, const KernelSet& set);

  /// Requires suits(). Throws as Swiglu.
  ColumnSwiglu(const SwigluWeights& weights, const SwigluActs& acts, const KernelSet& set,
               SiluMul silu_mul);

  [[nodiscard]] Scratch make_scratch() const;
  [[nodiscard]] int64_t columns() const noexcept { return set_->columns; }

  /// The columns() columns from h on, rows `stride` apart, into out [K, columns()]. Allocates
  /// nothing. Throws Numeric when a value is not finite.
  void run(const float* h, int64_t stride, Scratch& scratch, float* out) const;

 private:
  struct Panel;
  void finish(Panel& panel, const quant::QuantSpec& spec, Scratch& scratch) const;
  void fill_input(const float* h, int64_t stride, Scratch& scratch, Panel& panel) const;
  void fill_hidden(const Panel& input, Scratch& scratch, Panel& hidden) const;
  void multiply(const RowMatrix& weights, int64_t first, int64_t rows, const Panel& panel,
                float* out) const;

  SwigluActs acts_;
  const KernelSet* set_;
  formats::BlockScaling input_scaling_;
  formats::BlockScaling hidden_scaling_;
  RowMatrix gate_up_;
  RowMatrix down_;
  int64_t inner_;
  SiluMul silu_mul_;
};

}  // namespace driftless::native
