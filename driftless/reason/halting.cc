// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/halting.h"

#include <algorithm>
#include <array>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless::reason {
namespace {

constexpr std::array<HaltingPolicy, 3> kPolicies = {{
    {"fixed", "every board gets all steps", [](const Progress&) { return false; }},
    {"halt", "stop when the halt logit says so",
     [](const Progress& progress) {
       return progress.halt_signals >= progress.halt_signals_needed;
     }},
    {"stable", "stop when two steps in a row leave the answer unchanged",
     [](const Progress& progress) { return progress.unchanged_steps >= kStableSteps; }},
}};

}  // namespace

std::span<const HaltingPolicy> halting_policies() { return kPolicies; }

const HaltingPolicy& find_halting(std::string_view name) {
  const auto row = std::find_if(kPolicies.begin(), kPolicies.end(),
                                [&](const HaltingPolicy& policy) { return policy.name == name; });
  if (row != kPolicies.end()) return *row;
  std::vector<std::string_view> names;
  names.reserve(kPolicies.size());
  for (const HaltingPolicy& policy : kPolicies) names.push_back(policy.name);
  fail(ErrorCode::InvalidArgument, "unknown halting policy; got '", name, "', expected one of ",
       join(names, ", "), did_you_mean(name, names));
}

double halt_score(const model::ModelConfig& config, const Readout& readout) {
  const double halt = readout.halt_logit - config.halt_threshold;
  return model::halt_rule(config) == model::HaltRule::Lead ? halt - readout.continue_logit : halt;
}

bool wants_halt(const model::ModelConfig& config, const Readout& readout) {
  return model::halt_rule(config) != model::HaltRule::Never && halt_score(config, readout) > 0;
}

}  // namespace driftless::reason
