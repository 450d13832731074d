// SPDX-License-Identifier: Apache-2.0
// Swiglu over the columns of a matrix, as token mixing needs it: out = down(silu(gate(h)) * up(h))
// for each column of h [K, columns], a panel of columns at a time. Here the weights are the left
// factor and the activations the panel, so that nothing is transposed: blocks run across vectors,
// one column a lane, and the output lies as the state does. What one panel needs stays in the
// nearest caches. Where hidden activations have one scale a column, they are kept as floats until
// the column is complete.
#pragma once

#include "driftless/integer/column_quantizer.h"
#include "driftless/native/swiglu.h"

namespace driftless::native {

class ColumnSwiglu {
 public:
  /// What run() works in; one for each thread.
  struct Scratch {
    ColumnPanel input;
    ColumnPanel hidden;
    AlignedVector<float> tiles;     ///< gates and ups of some blocks, [32][column] each
    AlignedVector<float> products;  ///< [32][column], or [inner][column] where hidden is kept
  };

  /// Whether the set has encoders for these activations, none of them changes, and in both products
  /// the integers of either factor fit bytes or those of neither.
  static bool suits(const SwigluWeights& weights, const SwigluActs& acts, const KernelSet& set);

  /// Requires suits(). Throws as Swiglu.
  ColumnSwiglu(const SwigluWeights& weights, const SwigluActs& acts, const KernelSet& set,
               const loop::EpilogueSet& epilogues);

  [[nodiscard]] Scratch make_scratch() const;
  [[nodiscard]] int64_t columns() const noexcept { return set_->columns; }

  /// The columns() columns from h on, rows `stride` apart, into out [K, columns()]. Allocates
  /// nothing. Throws Numeric when a value is not finite.
  void run(const float* h, int64_t stride, Scratch& scratch, float* out) const;

 private:
  [[nodiscard]] bool fill_hidden(Scratch& scratch) const noexcept;
  [[nodiscard]] bool activate(Scratch& scratch, int64_t at, int64_t row) const noexcept;
  void multiply(const RowMatrix& weights, int64_t first, int64_t rows, const ColumnPanel& panel,
                float* out) const noexcept;

  const KernelSet* set_;
  int64_t tile_rows_;  // gates, or ups, at a time: whole blocks
  ColumnQuantizer input_;
  ColumnQuantizer hidden_;
  RowMatrix gate_up_;
  RowMatrix down_;
  int64_t inner_;
  const loop::EpilogueSet* epilogues_;
};

}  // namespace driftless::native
