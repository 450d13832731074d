// SPDX-License-Identifier: Apache-2.0
// Quantizes activations into one panel of a product's right factor, where the set has encoders for
// it: blocks and rows of quant::Quantizer run down the columns of the values. The integers and
// scales are those of a RowQuantizer on the transposed values.
#pragma once

#include <cstdint>

#include "driftless/integer/operand.h"
#include "driftless/quant/spec.h"

namespace driftless::integer {

/// A panel that is filled while a model runs.
struct ColumnPanel {
  int64_t k = 0;
  AlignedVector<int8_t> steps{};    ///< [step][column][4]
  AlignedVector<int32_t> starts{};  ///< [column], or [block][column] where sums are per block
  AlignedVector<int32_t> shifts{};  ///< [block][column]
  AlignedVector<float> scales{};    ///< [column]
  AlignedVector<uint8_t> codes{};   ///< scale codes of the blocks so far, [block][column]
};

class ColumnQuantizer {
 public:
  /// Whether the set has encoders for these activations.
  static bool suits(const quant::QuantSpec& spec, const KernelSet& set);

  /// Requires suits().
  ColumnQuantizer(const quant::QuantSpec& spec, const KernelSet& set);

  [[nodiscard]] const IntegerForm& form() const noexcept { return form_; }
  /// Whether blocks of 32 rows can be encoded one by one; otherwise quantize() wants them all.
  [[nodiscard]] bool has_blocks() const noexcept { return has_blocks_; }

  /// A panel for k rows.
  [[nodiscard]] ColumnPanel make(int64_t k) const;

  /// All of a panel: k rows of `x`, `stride` apart, as wide as the set's panels. Allocates nothing.
  /// Returns false when a value is not finite.
  [[nodiscard]] bool quantize(const float* x, int64_t stride, ColumnPanel& out) const noexcept;

  /// The same in pieces: each block, in any order, and then finish(), which applies the window.
  [[nodiscard]] bool encode_block(const float* x, int64_t stride, int64_t block,
                                  ColumnPanel& out) const noexcept;
  void finish(ColumnPanel& out) const noexcept;

 private:
  formats::Element element_;
  BlockScales scales_;
  const KernelSet* set_;
  formats::BlockScaling scaling_;
  IntegerForm form_;
  bool has_blocks_;
  bool has_fractions_;
  int64_t window_;
};

}  // namespace driftless::integer
