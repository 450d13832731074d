// SPDX-License-Identifier: Apache-2.0
// The scale of one block with scale=, by the rule of its spec.
#pragma once

#include <span>

#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

/// Of finite values whose largest magnitude is `absmax`. Requires scale=.
float block_scale(const QuantSpec& spec, std::span<const float> block, float absmax,
                  const KernelSet& kernels) noexcept;

}  // namespace driftless::quant
