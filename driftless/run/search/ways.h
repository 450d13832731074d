// SPDX-License-Identifier: Apache-2.0
// What a search may choose from: how blocks of so many bits store their scales, what chooses those,
// what rounds weights, and wider formats for a few layers; and what a choice costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftless/model/config.h"
#include "driftless/run/rounding.h"
#include "driftless/study/record/row.h"

namespace driftless::run {

/// A model as it is stored: a plan, and what rounds the weights of each of its layers.
struct Stored {
  quant::QuantPlan plan{};
  std::vector<Rounding> roundings{};
};

/// A change of a stored model, and the model that it makes.
struct Change {
  std::string name;
  Stored stored{};
};

enum class Side : uint8_t { Weights, Acts };
/// What of a layer changes at a time: what its scales are stored as, and what chooses them or
/// rounds its weights.
enum class Part : uint8_t { WeightScales, WeightMethod, ActScales, ActRule };
inline constexpr Part kParts[] = {Part::WeightScales, Part::WeightMethod, Part::ActScales,
                                  Part::ActRule};

/// The widest integers whose blocks of 32 with 8-bit scales take at most that many bits a value.
/// Throws InvalidArgument below 2.25 bits, and at 5.25 or more.
int element_bits(double bits);

/// The quantizers of blocks of 32 of integers of that width: one for each way to store scales.
std::vector<std::string> block_quantizers(int bits);

/// All layers with another method.
Stored with_method(Stored stored, const Method& method);

/// What one part of a layer may become instead of what it is, all else equal. `execution` says
/// whether quantizers need windows.
std::vector<Change> alternatives(const Stored& stored, size_t layer, Part part,
                                 study::Execution execution);

/// A side of a layer in each format that is wider than its own.
std::vector<Change> widened(const Stored& stored, size_t layer, Side side,
                            study::Execution execution);

/// Means over the weights, and over the values that layers read in a step; of the layers of the
/// plan alone.
study::PlanBits mean_bits(const quant::QuantPlan& plan, const model::ModelConfig& config);

}  // namespace driftless::run
