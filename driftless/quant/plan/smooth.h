// SPDX-License-Identifier: Apache-2.0
// SmoothQuant: moves the spread between input channels from activations to weights. With
// s_j = max|X_j|^strength / max|W_j|^(1 - strength) the product (X / s) (W * s)^T equals X W^T.
#pragma once

#include <span>
#include <vector>

#include "driftless/quant/mat_view.h"

namespace driftless::quant {

/// max(current, max|column|) for each column, so that maxima add up over calls and matrices.
void update_column_absmax(ConstMat matrix, std::span<float> absmax);

/// The factors s. `weight_absmax` covers every weight that shares the input. Both maxima are taken
/// to be at least 1e-5. Throws InvalidArgument for a strength outside 0 ... 1 or unequal lengths.
std::vector<float> smoothing_factors(std::span<const float> activation_absmax,
                                     std::span<const float> weight_absmax, double strength);

/// Column j divided (activations) or multiplied (weights) by factors[j].
void smooth_activations(std::span<const float> factors, Mat activations);
void smooth_weights(std::span<const float> factors, Mat weights);

}  // namespace driftless::quant
