// SPDX-License-Identifier: Apache-2.0
// Rounding single weights once more: with A the damped second moments of the inputs and e = w - q
// the errors of a row, e A e^T is least in q_j, all other weights being what they are, at
// q_j + (e A)_j / A_jj. Each weight in turn takes the code nearest to that, sweep after sweep,
// until none changes: what error feedback leaves to the last weights of a row finds its way back
// to the first ones. The error never grows, and scales stay what they are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/quant/quantizer.h"

namespace driftless::quant {

/// Sweeps after which a row is left as it is.
inline constexpr int64_t kMostSweeps = 32;

/// Rounds row `row` of `out` again; `exact` are the weights that it should have, `moments` is A,
/// [cols, cols]. Returns how many codes changed.
int64_t descend(const std::vector<double>& moments, std::span<const double> exact,
                QuantizedMatrix& out, int64_t row);

}  // namespace driftless::quant
