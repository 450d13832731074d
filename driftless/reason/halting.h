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
  int64_t steps = 0;         ///< supervision steps made, >= 1
  int64_t halt_signals = 0;  ///< steps that wanted to stop, as the model counts them
  int64_t halt_signals_needed = 1;
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

/// Above 0 where the model itself wants to stop, by the rule of its training: what the halt logit,
/// for HRM its lead over the continue logit, has above the threshold. A model that never stops has
/// a score too.
double halt_score(const model::ModelConfig& config, const Readout& readout);

/// Whether the step wants to stop: the score is above 0 and the model stops at all.
bool wants_halt(const model::ModelConfig& config, const Readout& readout);

}  // namespace driftless::reason
