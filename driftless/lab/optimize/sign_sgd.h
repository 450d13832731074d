// SPDX-License-Identifier: Apache-2.0
// Sign-SGD for the puzzle table: only the rows that the batch used move.
#pragma once

#include <ATen/ATen.h>

namespace driftless::lab {

/// For each distinct id, with g the sum of its rows of `grads`: p <- p (1 - lr wd) - lr sign(g).
/// Other rows stay, without decay. `table` is [N, W], `ids` [B] int64, `grads` [B, W], `lr` a
/// float32 scalar on the table's device. Leaves everything as it is where the bool `skip` is set.
/// Does not wait for the device and costs B * B * W, whatever N.
void sign_sgd_step(at::Tensor& table, const at::Tensor& ids, const at::Tensor& grads,
                   const at::Tensor& lr, double weight_decay, const at::Tensor& skip);

}  // namespace driftless::lab
