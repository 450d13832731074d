// SPDX-License-Identifier: Apache-2.0
// What a hardware accumulator meets in a product of quantized matrices. A sum runs block by block
// in the order of K: the products of 32 mantissas are added exactly, shifted left by both blocks'
// distances from their rows' bases, and added to the accumulator, which may be too narrow. See
// docs/accumulators.md for the definitions and the proof of the widths.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "driftless/base/text/enum_names.h"
#include "driftless/integer/operand.h"
#include "driftless/quant/mat_view.h"

namespace driftless::integer {

/// What happens to a sum that leaves the range of the accumulator.
enum class Overflow : uint8_t { Saturate, Wrap };

inline constexpr std::array<EnumName<Overflow>, 2> kOverflowNames = {
    {{Overflow::Saturate, "saturate"}, {Overflow::Wrap, "wrap"}}};

/// Two's complement: -2^(bits-1) to 2^(bits-1) - 1.
struct Accumulator {
  int64_t bits = kMostBits;
  Overflow overflow = Overflow::Saturate;

  static constexpr int64_t kLeastBits = 2;
  static constexpr int64_t kMostBits = 62;
};

/// The two's complement bits that hold every integer from -magnitude to magnitude.
int64_t bits_of_magnitude(uint64_t magnitude) noexcept;

/// The largest magnitude of a factor's integers: that of a mantissa, shifted by the whole window.
/// The spec must be supported; `window` is that of the factor (IntegerForm).
uint64_t largest_integer(const quant::QuantSpec& spec, int64_t window) noexcept;

/// The bits that hold every sum, and every part of one, over k products of factors whose integers
/// are that large.
int64_t guaranteed_bits(int64_t k, uint64_t largest_left, uint64_t largest_right) noexcept;

/// How far the blocks of a matrix lie below their rows' largest exponents: [distance] counts blocks
/// that are not zero. For mx formats and blocks with scale=; others get an empty list.
std::vector<int64_t> exponent_spread(const quant::QuantizedMatrix& matrix);

/// A right factor whose products run through an accumulator of a given width.
class AccumulatedProduct {
 public:
  /// Throws what make_panels throws.
  AccumulatedProduct(const quant::QuantizedMatrix& matrix, const KernelSet& set);

  [[nodiscard]] int64_t columns() const noexcept { return std::ssize(scales_); }
  [[nodiscard]] const IntegerForm& form() const noexcept { return form_; }
  /// The largest sum of a column's integer magnitudes: times the largest integer on the left it
  /// bounds every sum for this factor.
  [[nodiscard]] uint64_t largest_column_sum() const noexcept { return largest_column_sum_; }

  /// The sums of a matrix (m x k) times this, as the accumulator leaves them: [m][column]. Each bit
  /// that a running sum needed beside its sign is set in `reach`, of the same shape, unless that is
  /// empty. Throws what make_rows throws, and InvalidArgument for other lengths or widths that an
  /// accumulator cannot have.
  void run(const quant::QuantizedMatrix& matrix, const Accumulator& accumulator,
           quant::MatView<int64_t> sums, std::span<uint64_t> reach = {}) const;

  /// The same as floats: float(sum) * (row scale * column scale).
  void run(const quant::QuantizedMatrix& left, const Accumulator& accumulator,
           quant::Mat out) const;

 private:
  struct Block {
    PanelMatrix panels;            // of mantissas
    std::vector<int64_t> factors;  // 2^shift of each column
  };

  void run_whole(const quant::QuantizedMatrix& left, const Accumulator& accumulator,
                 quant::MatView<int64_t> sums) const;
  template <class Int>
  void run_blocks(const quant::QuantizedMatrix& left, const RowShifts& shifts,
                  const Accumulator& accumulator, quant::MatView<int64_t> sums,
                  std::span<uint64_t> reach) const;

  const KernelSet* set_;
  IntegerForm form_;
  int64_t k_;
  PanelMatrix whole_;
  std::vector<Block> blocks_;
  std::vector<float> scales_;
  uint64_t largest_column_sum_ = 0;
};

}  // namespace driftless::integer
