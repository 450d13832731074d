// SPDX-License-Identifier: Apache-2.0
// Hadamard rotations: orthogonal transforms with entries +-1/sqrt(n) that spread an outlier over
// all coordinates. Orders n = k * 2^p, where k is 1 or an order that Paley's constructions give for
// a prime q: q + 1 (q = 3 mod 4: 12, 20, 24, 44, ...) or 2 (q + 1) (q = 1 mod 4: 28, 36, ...).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/quant/mat_view.h"

namespace driftless::quant {

/// Whether a Hadamard matrix of that order can be built here.
bool is_hadamard_order(int64_t order);

/// The smallest order at or above `length`.
int64_t hadamard_order_for(int64_t length);

/// An orthogonal map on vectors of a given length. A length that is no order is padded with zeros
/// to one, so the output is longer; norms and inner products are still kept.
class Hadamard {
 public:
  /// Rotates the whole vector. Throws InvalidArgument for a length below 1.
  static Hadamard whole(int64_t length);
  /// Rotates blocks of `block` values on their own, the last one padded: the rotation that keeps MX
  /// blocks apart. Throws InvalidArgument unless `block` is an order.
  static Hadamard blocks(int64_t length, int64_t block);

  [[nodiscard]] int64_t input_length() const noexcept { return input_length_; }
  [[nodiscard]] int64_t output_length() const noexcept { return output_length_; }
  /// Of one rotated block: its length, and the matrix of +-1 that Sylvester's doubling starts from.
  [[nodiscard]] int64_t order() const noexcept { return order_; }
  [[nodiscard]] int64_t core_order() const noexcept { return core_order_; }
  [[nodiscard]] std::span<const int16_t> core() const noexcept { return core_; }

  /// Each row of `out` becomes the rotated row of `in`. Sums run in a fixed order, so the result is
  /// the same everywhere. Throws InvalidArgument when a shape does not fit.
  void apply(ConstMat in, Mat out) const;
  /// Rotates one vector whose first input_length() values are the input; what follows up to
  /// output_length() is overwritten. `scratch` holds scratch_length() values. Allocates nothing.
  void apply_in_place(std::span<float> vector, std::span<float> scratch) const;
  [[nodiscard]] int64_t scratch_length() const noexcept { return core_order_; }
  /// The transpose: undoes apply.
  void invert(ConstMat in, Mat out) const;

 private:
  Hadamard(int64_t length, int64_t order);
  void rotate(std::span<float> block, std::span<float> scratch, bool transposed) const;

  int64_t input_length_;
  int64_t output_length_;
  int64_t order_;               ///< of one rotated block
  int64_t core_order_;          ///< k
  std::vector<int16_t> core_;   ///< the k x k matrix of +-1, row-major
  std::vector<float> signs_;    ///< the same
  std::vector<float> columns_;  ///< its transpose
};

}  // namespace driftless::quant
