// SPDX-License-Identifier: Apache-2.0
// Rounding that compensates, as GPTQ does: the weights of a row are rounded one after another, and
// those still free take up the errors of those that are not, in proportion to how their inputs go
// together. With A the damped second moments of the inputs, factored as A = R D R^T, R unit upper
// triangular, and e = w - q the errors of a row,
//
//   e A e^T = sum over j of D_j (e_j + sum over k < j of e_k R_kj)^2,
//
// so weight j is rounded from w_j + sum over k < j of e_k R_kj, and no term can be made smaller
// after the ones before it. The scale of a block is that of its values so compensated when its
// first weight is due. With the moments of exact inputs y beside those of the multiplied ones x the
// weights start from W E[y x^T] A^-1: the product of the rounded weight with x follows W y, as in
// GPTAQ.
#pragma once

#include <cstdint>

#include "driftless/quant/feedback/moments.h"
#include "driftless/quant/quantizer.h"

namespace driftless::quant {

/// Added to the diagonal of the moments, as a share of its mean; ten times as much for as long as
/// the matrix has no factors.
inline constexpr double kFeedbackDamping = 0.01;

/// Whether all weights are rounded once more afterwards (quant/feedback/descent.h).
enum class Then : uint8_t { Nothing, Descent };

struct FeedbackResult {
  QuantizedMatrix matrix;
  double damping = kFeedbackDamping;  ///< the share that it took
  int64_t unseen = 0;                 ///< inputs that were zero throughout
};

/// The codes and scales of `weight` [outputs, length], each row by itself on one of the threads.
/// Throws InvalidArgument when the moments have another length or saw no rows, Numeric when they
/// are not finite, and what Quantizer::quantize throws.
FeedbackResult quantize_with_feedback(const Quantizer& quantizer, ConstMat weight,
                                      const InputMoments& moments, Then then = Then::Nothing,
                                      int64_t threads = 1);

}  // namespace driftless::quant
