// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/optimize/sign_sgd.h"

#include "driftless/base/error.h"

namespace driftless::lab {

void sign_sgd_step(at::Tensor& table, const at::Tensor& ids, const at::Tensor& grads,
                   const at::Tensor& lr, double weight_decay, const at::Tensor& skip) {
  DRIFTLESS_REQUIRE(table.dim() == 2 && ids.dim() == 1 && grads.dim() == 2 &&
                        grads.size(0) == ids.size(0) && grads.size(1) == table.size(1),
                    ErrorCode::InvalidArgument, "sign_sgd: got a table ", table.sizes(), ", ids ",
                    ids.sizes(), " and gradients ", grads.sizes(),
                    ", expected [N, W], [B] and [B, W]");
  // Every occurrence of an id gets the sum over all of them, so that repeated ids write the same
  // values to the same row.
  const at::Tensor is_same = ids.unsqueeze(1).eq(ids.unsqueeze(0)).to(grads.scalar_type());
  const at::Tensor summed = at::mm(is_same, grads);
  const at::Tensor rows = table.index_select(0, ids);
  const at::Tensor moved = rows * (1 - lr * weight_decay) - lr * summed.sign();
  table.index_copy_(0, ids, at::where(skip, rows, moved));
}

}  // namespace driftless::lab
