// SPDX-License-Identifier: Apache-2.0
// Second moments of the inputs of a model's linear layers, over all network calls and all steps of
// some boards: what rounding with error feedback asks for.
#pragma once

#include <map>
#include <span>
#include <string>

#include "driftless/quant/feedback/moments.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/calibrate.h"

namespace driftless::reason {

/// By the name of the weight.
using Moments = std::map<std::string, quant::InputMoments, std::less<>>;

/// Whether the moments of exact inputs with quantized ones are kept too.
enum class Exact : uint8_t { Ignored, Crossed };

/// Runs the boards until the model says that it is done, with float weights and the activations of
/// `plan`, which must be calibrated: the inputs are those that the rounded weights will meet. Later
/// steps would repeat those of settled states, which few boards ever see. The boards are dealt out
/// to `threads` threads in parts that do not depend on their number, and neither does the result.
/// Throws InvalidArgument without boards, and what the reasoner throws.
Moments input_moments(const MakeReasoner& make, std::span<const Board> boards,
                      const quant::QuantPlan& plan, Exact exact, int64_t threads = 1,
                      const OnBoard& on_board = {});

}  // namespace driftless::reason
