// SPDX-License-Identifier: Apache-2.0
// When to stop thinking about a board, as a table of policies. All of them also stop at the limit.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/model/config.h"
#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// What a policy may look at after a step.
struct Progress {
  int64_t steps = 0;            ///< supervision steps made, >= 1
  double halt_score = 0;        ///< see halt_score()
  int64_t unchanged_steps = 0;  ///< latest steps that left the answer as it was
};

struct HaltingPolicy {
  std::string_view name;
  std::string_view description;
  bool (*is_done)(const Progress& progress);
};

/// Steps that must leave the answer unchanged before the policy "stable" takes it.
inline constexpr int64_t kStableSteps = 2;

std::span<const HaltingPolicy> halting_policies();

/// Throws InvalidArgument with the nearest name.
const HaltingPolicy& find_halting(std::string_view name);

/// Above 0 where the model itself wants to stop: the halt logit, or its lead over the continue
/// logit.
double halt_score(const model::ModelConfig& config, const Readout& readout);

}  // namespace driftless::reason
