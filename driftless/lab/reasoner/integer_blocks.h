// SPDX-License-Identifier: Apache-2.0
// The native engine's blocks and heads on the device: the same integers, and the same floats
// between them (cuda/integers/integers.h). Models that mix tokens or have attention in int8, all of
// whose blocks' linear layers are integers that fit bytes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <ATen/ATen.h>

#include "driftless/lab/net/block.h"
#include "driftless/lab/quant/layer_quantizer.h"
#include "driftless/store/packed_model.h"

namespace driftless::lab {

/// Throws Unsupported, naming the layer and why, for a model that these kernels cannot run.
std::unique_ptr<const BlockEngine> make_integer_blocks(const store::PackedModel& model,
                                                       at::Device device);

/// The heads, which stay in float, summed as the native engine sums them.
LayerQuantizers make_ordered_heads(const store::PackedModel& model, at::Device device);

}  // namespace driftless::lab
