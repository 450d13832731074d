// SPDX-License-Identifier: Apache-2.0
// Fills in what a quantization plan wants to know of a model's activations, by watching the float
// model think about some boards. Works on every backend.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/watch.h"
#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// Runs the boards for as many steps as the model was trained with and fills the static scales and
/// input ranges that `plan` lacks; what it has stays. Statistics are kept by network call of a
/// step, over all steps and boards, and shared between calls as each layer's plan says. Input
/// ranges come from the float model; scales from the float model with the plan's smoothing and
/// rotations, which a quantized input meets in the same place. A call that the layer is never part
/// of gets the scale of all its calls.
///
/// Boards are dealt out to `threads` threads with a reasoner each; the result does not depend on
/// their number.
///
/// Throws InvalidArgument without boards or where they are too few for a percentile, and what the
/// reasoner throws.
void calibrate(const MakeReasoner& make, std::span<const Board> boards, quant::QuantPlan& plan,
               int64_t threads = 1);

/// The same for several plans at once: the boards run once for all of them; smoothing runs them
/// twice, and `on_board` counts anew. Throws InvalidArgument when the plans differ in more than
/// their quantizers (in layers, smoothing or rotations).
void calibrate(const MakeReasoner& make, std::span<const Board> boards,
               std::span<quant::QuantPlan> plans, int64_t threads = 1,
               const OnBoard& on_board = {});

/// `count` of the boards, drawn without repetition by the seed; those of a smaller count are the
/// first ones. Throws InvalidArgument when there are fewer.
std::vector<Board> draw_boards(std::span<const Board> boards, int64_t count, uint64_t seed);

}  // namespace driftless::reason
