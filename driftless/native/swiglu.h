// SPDX-License-Identifier: Apache-2.0
// out = down(silu(gate(h)) * up(h)), row by row, on quantized weights and activations, without
// leaving the cache: a tile of 32 gates and 32 ups is multiplied out, activated and quantized at
// once, as those 32 columns are one block of the next product. Between the two products there are
// mantissas and exponents only; a row's window is applied when its last block is there. Where the
// hidden activations have one scale a row, they are kept as floats until the row is complete.
//
// Where an input is its change since the last run, what the changes have added up to is kept by the
// caller, beside what their products have.
//
// Serves channel mixers (rows are tokens) and token mixers (rows are channels) alike. The result is
// the same as quantizing, multiplying and activating one after another, bit for bit.
#pragma once

#include "driftless/integer/product.h"
#include "driftless/integer/row_quantizer.h"
#include "driftless/native/changes.h"

namespace driftless::native {

using namespace integer;  // Everything here is written in its terms.

struct SwigluWeights {
  const quant::QuantizedMatrix& gate_up;  ///< [2 inner, D]: the gates' rows, then the ups'
  const quant::QuantizedMatrix& down;     ///< [D, inner]
};

/// How the inputs of the two products are quantized; with `is_change`, what they change by is.
struct SwigluActs {
  quant::QuantSpec input;
  quant::QuantSpec hidden;
  bool input_is_change = false;
  bool hidden_is_change = false;
};

/// What changes have added up to, for the rows of a run. Null where a product's inputs are not
/// changes. What belongs to a tile lies together.
struct SwigluSums {
  float* input = nullptr;    ///< [rows, K]
  float* gate_up = nullptr;  ///< gates [block][all_rows][32], then ups
  float* hidden = nullptr;   ///< [block][all_rows][32]
  float* output = nullptr;   ///< [rows, D]
  int64_t all_rows = 0;      ///< of which the run has some
  int64_t passes = 1;        ///< how often what is left of a change is quantized and multiplied
};

class Swiglu {
 public:
  /// What run() works in, for up to that many rows; one for each thread.
  struct Scratch {
    RowMatrix input;
    RowMatrix hidden;
    AlignedVector<float> floats;  ///< [block][rows][32] where hidden scales are of whole rows
    AlignedVector<float> change;  ///< [rows, K] where the input is a change
  };

  /// Throws InvalidArgument when the shapes do not suit each other or inner is no multiple of 32,
  /// Unsupported when K is too long for a product, and what factors throw.
  Swiglu(const SwigluWeights& weights, const SwigluActs& acts, const KernelSet& set,
         const loop::EpilogueSet& epilogues);

  [[nodiscard]] Scratch make_scratch(int64_t rows) const;

  /// Computes all rows of `h`, at most as many as the scratch was made for, on the calling thread.
  /// Allocates nothing. Throws InvalidArgument for other shapes, and Numeric when a value is not
  /// finite.
  void run(quant::ConstMat h, Scratch& scratch, quant::Mat out, const SwigluSums& sums = {}) const;

 private:
  /// What is done with the gates and ups of a tile: multiplied out, activated, or both.
  enum class Gates : uint8_t { Multiply, Activate, Both };

  void quantize_input(quant::ConstMat h, Scratch& scratch, const SwigluSums& sums) const;
  void run_gates(Gates gates, Scratch& scratch, int64_t rows, const SwigluSums& sums) const;
  void run_block(Gates gates, Scratch& scratch, int64_t rows, int64_t block,
                 const SwigluSums& sums) const;
  void run_down(Scratch& scratch, quant::Mat out, const SwigluSums& sums) const;

  RowQuantizer input_;
  RowQuantizer hidden_;
  PanelMatrix gate_up_;
  PanelMatrix down_;
  int64_t inner_;
  bool has_block_hidden_;
  bool input_is_change_, hidden_is_change_;
  const loop::EpilogueSet* epilogues_;
};

}  // namespace driftless::native
