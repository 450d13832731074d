// SPDX-License-Identifier: Apache-2.0
// out = down(silu(gate(h)) * up(h)), row by row, on quantized weights and activations, without
// leaving the cache: a tile of 32 gates and 32 ups is multiplied out, activated and quantized at
// once, as those 32 columns are one block of the next product. Between the two products there are
// mantissas and exponents only; a row's window is applied when its last block is there. Where the
// hidden activations have one scale a row, they are kept as floats until the row is complete.
//
// Serves channel mixers (rows are tokens) and token mixers (rows are channels) alike. The result is
// the same as quantizing, multiplying and activating one after another, bit for bit.
#pragma once

#include "driftless/integer/product.h"
#include "driftless/integer/row_quantizer.h"

namespace driftless::native {

using namespace integer;  // Everything here is written in its terms.

/// out[i] = silu(gate[i]) * up[i].
using SiluMul = void (*)(const float* gate, const float* up, float* out, int64_t count) noexcept;

struct SwigluWeights {
  const quant::QuantizedMatrix& gate_up;  ///< [2 inner, D]: the gates' rows, then the ups'
  const quant::QuantizedMatrix& down;     ///< [D, inner]
};

/// How the inputs of the two products are quantized.
struct SwigluActs {
  quant::QuantSpec input;
  quant::QuantSpec hidden;
};

class Swiglu {
 public:
  /// What run() works in, for up to that many rows; one for each thread.
  struct Scratch {
    RowMatrix input;
    RowMatrix hidden;
    AlignedVector<float> floats;  ///< [block][rows][32] where hidden scales are of whole rows
  };

  /// Throws InvalidArgument when the shapes do not suit each other or inner is no multiple of 32,
  /// Unsupported when K is too long for a product, and what factors throw.
  Swiglu(const SwigluWeights& weights, const SwigluActs& acts, const KernelSet& set,
         SiluMul silu_mul);

  [[nodiscard]] Scratch make_scratch(int64_t rows) const;

  /// Computes all rows of `h`, at most as many as the scratch was made for, on the calling thread.
  /// Allocates nothing. Throws InvalidArgument for other shapes, and Numeric when a value is not
  /// finite.
  void run(quant::ConstMat h, Scratch& scratch, quant::Mat out) const;

 private:
  void run_hidden(Scratch& scratch, int64_t rows) const;
  void run_block(Scratch& scratch, int64_t rows, int64_t block) const;

  RowQuantizer input_;
  RowQuantizer hidden_;
  PanelMatrix gate_up_;
  PanelMatrix down_;
  int64_t inner_;
  bool has_block_hidden_;
  SiluMul silu_mul_;
};

}  // namespace driftless::native
