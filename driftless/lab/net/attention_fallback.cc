// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/attention.h"

namespace driftless::lab {

at::Tensor scaled_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  return tiled_attention(q, k, v);
}

}  // namespace driftless::lab
