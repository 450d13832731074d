// SPDX-License-Identifier: Apache-2.0
// The section [quant] of a recipe as a quantization plan, and which of its scales are learned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/lab/recipe/recipe.h"
#include "driftless/quant/plan/plan.h"

namespace driftless::lab {

/// Weights with learned scales are static in the plan. Scales are missing until a run has them. A
/// plan without layers is float.
struct QatPlan {
  quant::QuantPlan plan{};
  bool learns_weights = false;
  bool learns_acts = false;
  bool learns_rounding = false;  ///< of weights, which else stay as they are
};

/// Checks the section alone. Throws BadConfig, `where` first, on what is no quantizer, coverage,
/// bias or method, on lsq for a format without a gradient rule, and on keys that exclude each
/// other.
void require_valid(const Recipe& recipe, std::string_view where);

/// The plan for the recipe's model; a plan file lies relative to `folder`. Throws BadConfig on a
/// file that names layers the model lacks, or asks for smoothing or rotations, which are not
/// trained through.
QatPlan qat_plan(const Recipe& recipe, const std::filesystem::path& folder);

/// Where the static scales of a plan lie in one flat vector: those of weights, which are learned,
/// then those of activations, layer by layer.
struct ScaleSlot {
  size_t layer;  ///< index into the plan
  int64_t weight_begin;
  int64_t weight_count;  ///< 0, 1, or one for each output
  int64_t act_begin;
  int64_t act_count;  ///< 0, 1, or one for each network call
};
std::vector<ScaleSlot> scale_slots(const QatPlan& qat, const model::ModelConfig& config);
/// Values in that vector.
int64_t scale_count(const std::vector<ScaleSlot>& slots);

}  // namespace driftless::lab
