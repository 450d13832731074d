// SPDX-License-Identifier: Apache-2.0
// What training minimizes and what it reports. Logits are [B, S, V] float32, labels [B, S] tokens
// as uint8 with 0 for cells that do not count, halt logits [B].
#pragma once

#include <ATen/ATen.h>

namespace driftless::lab {

/// -log p(label) per cell, p(c) = s(l_c) / sum s(l), s(v) = v + 1 for v >= 0, else 1 / (1 - v). In
/// float32 rather than the reference's float64: all terms are positive, so nothing cancels and the
/// relative error of 1e-6 lies far under the 2^-8 of the bfloat16 logits.
at::Tensor stablemax_cross_entropy(const at::Tensor& logits, const at::Tensor& labels);

/// Sums over boards; the values stay on the device.
struct Loss {
  at::Tensor total;      ///< answer + 0.5 * halting: what is differentiated
  at::Tensor answer;     ///< mean over the board's counted cells, summed over boards
  at::Tensor halting;    ///< binary cross-entropy of halt logit against "the board is right"
  at::Tensor cell_rate;  ///< [B] share of the counted cells that are right
  at::Tensor is_exact;   ///< [B] bool: all counted cells are right
};
Loss loss(const at::Tensor& logits, const at::Tensor& halt, const at::Tensor& labels);

/// HRM's second halting loss, summed over boards: binary cross-entropy of the continue logit
/// against what the next step promises, sigmoid(max(halt, go_on)), or sigmoid(halt) where the board
/// has had all its steps. `is_last` is [B] bool.
at::Tensor continue_loss(const at::Tensor& go_on, const at::Tensor& next_halt,
                         const at::Tensor& next_go_on, const at::Tensor& is_last);

}  // namespace driftless::lab
