// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/feedback/factors.h"

#include <utility>

namespace driftless::quant {

std::optional<Factors> factorize(std::vector<double> matrix, int64_t length) {
  Factors out{.length = length, .upper = std::move(matrix), .diagonal = {}};
  out.diagonal.resize(static_cast<size_t>(length));
  std::vector<double> column(static_cast<size_t>(length));
  // From the last pivot: a[i, j] -= r_i d r_j for what lies above and before it.
  for (int64_t last = length - 1; last >= 0; --last) {
    double* const a = out.upper.data();
    const double pivot = a[last * length + last];
    if (!(pivot > 0)) return std::nullopt;
    out.diagonal[static_cast<size_t>(last)] = pivot;
    for (int64_t i = 0; i < last; ++i)
      column[static_cast<size_t>(i)] = a[i * length + last] / pivot;
    for (int64_t i = 0; i < last; ++i) {
      const double factor = a[i * length + last];
      double* const row = a + i * length;
      for (int64_t j = i; j < last; ++j) row[j] -= factor * column[static_cast<size_t>(j)];
      row[last] = column[static_cast<size_t>(i)];
    }
  }
  return out;
}

void Factors::solve(std::span<double> b) const {
  // With y = x R D: y_i + sum over j > i of y_j R_ij = b_i, from the last one.
  for (int64_t i = length - 1; i >= 0; --i) {
    double sum = b[static_cast<size_t>(i)];
    const auto row = after(i);
    for (size_t j = 0; j < row.size(); ++j) sum -= row[j] * b[static_cast<size_t>(i) + 1 + j];
    b[static_cast<size_t>(i)] = sum;
  }
  for (int64_t i = 0; i < length; ++i)
    b[static_cast<size_t>(i)] /= diagonal[static_cast<size_t>(i)];
  for (int64_t i = 0; i < length; ++i) {
    const double value = b[static_cast<size_t>(i)];
    const auto row = after(i);
    for (size_t j = 0; j < row.size(); ++j) b[static_cast<size_t>(i) + 1 + j] -= value * row[j];
  }
}

}  // namespace driftless::quant
