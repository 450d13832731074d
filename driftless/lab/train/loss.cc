// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/loss.h"

#include "driftless/base/error.h"

namespace driftless::lab {

at::Tensor stablemax_cross_entropy(const at::Tensor& logits, const at::Tensor& labels) {
  DRIFTLESS_REQUIRE(logits.dim() == 3 && labels.dim() == 2 && logits.size(0) == labels.size(0) &&
                        logits.size(1) == labels.size(1),
                    ErrorCode::InvalidArgument, "loss: got logits ", logits.sizes(), " and labels ",
                    labels.sizes(), ", expected [B, S, V] and [B, S]");
  // The clamp keeps the branch that is not taken away from its pole at 1, where it would poison the
  // gradient.
  const at::Tensor s = at::where(logits.ge(0), logits + 1, (1 - logits.clamp_max(0)).reciprocal());
  const at::Tensor own = s.gather(2, labels.to(at::kLong).unsqueeze(2)).squeeze(2);
  return at::log(s.sum(2)) - at::log(own);
}

Loss loss(const at::Tensor& logits, const at::Tensor& halt, const at::Tensor& labels) {
  const at::Tensor is_counted = labels.ne(0);
  const at::Tensor cells = is_counted.sum(1).clamp_min(1).to(at::kFloat);
  const at::Tensor per_cell = stablemax_cross_entropy(logits, labels) * is_counted;

  const at::Tensor is_right = at::logical_and(logits.argmax(2).eq(labels), is_counted);
  Loss out;
  out.cell_rate = is_right.sum(1) / cells;
  out.is_exact = at::logical_or(is_right, is_counted.logical_not()).all(1);
  out.answer = (per_cell.sum(1) / cells).sum();
  out.halting = at::binary_cross_entropy_with_logits(halt, out.is_exact.to(at::kFloat), {}, {},
                                                     at::Reduction::Sum);
  out.total = out.answer + 0.5 * out.halting;
  return out;
}

at::Tensor continue_loss(const at::Tensor& go_on, const at::Tensor& next_halt,
                         const at::Tensor& next_go_on, const at::Tensor& is_last) {
  const at::Tensor promise = at::where(is_last, next_halt, at::maximum(next_halt, next_go_on));
  return at::binary_cross_entropy_with_logits(go_on, at::sigmoid(promise).detach(), {}, {},
                                              at::Reduction::Sum);
}

}  // namespace driftless::lab
