// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/attention.h"

namespace driftless::lab {

at::Tensor scaled_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  return at::scaled_dot_product_attention(q, k, v);
}

}  // namespace driftless::lab
