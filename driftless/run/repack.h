// SPDX-License-Identifier: Apache-2.0
// A packed model under other activations.
#pragma once

#include "driftless/run/scheme.h"
#include "driftless/store/packed_model.h"

namespace driftless::run {

/// The model with its weights as they are, code by code, and every quantized layer's activations
/// and `delta` as the texts say. Throws InvalidArgument where the texts ask for anything else, or
/// for activations that need boards.
store::PackedModel repack(store::PackedModel model, const SchemeText& scheme);

}  // namespace driftless::run
