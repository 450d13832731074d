// SPDX-License-Identifier: Apache-2.0
// The losses that TRM, HRM and EqR are trained with and log.
#pragma once

#include <cstdint>
#include <span>

namespace driftless::reason {

/// Cross entropy with stablemax in place of softmax: s(v) = v + 1 from 0 on and 1 / (1 - v) below,
/// p(c) = s(v_c) / sum s(v), the mean of -log p(label) over the cells whose label is not 0; 0 where
/// there are none. `logits` is [cells, vocabulary]. Throws InvalidArgument on a label outside it.
double stablemax_loss(std::span<const float> logits, std::span<const uint8_t> labels);

enum class Target { No, Yes };

/// Binary cross entropy of a logit: log(1 + exp(-logit)) where the answer is yes, log(1 +
/// exp(logit)) where it is no.
double binary_loss(double logit, Target target);

}  // namespace driftless::reason
