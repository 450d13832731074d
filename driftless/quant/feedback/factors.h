// SPDX-License-Identifier: Apache-2.0
// A symmetric positive definite matrix as R D R^T with R unit upper triangular.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace driftless::quant {

struct Factors {
  int64_t length = 0;
  std::vector<double> upper;     ///< R, [length, length]; below the diagonal unspecified
  std::vector<double> diagonal;  ///< D

  /// Row k of R from column k + 1 on.
  [[nodiscard]] std::span<const double> after(int64_t k) const {
    return std::span(upper).subspan(static_cast<size_t>(k * length + k + 1),
                                    static_cast<size_t>(length - k - 1));
  }
  /// Replaces b by x with x R D R^T = b.
  void solve(std::span<double> b) const;
};

/// None when a pivot is not above zero.
std::optional<Factors> factorize(std::vector<double> matrix, int64_t length);

}  // namespace driftless::quant
