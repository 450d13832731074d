// SPDX-License-Identifier: Apache-2.0
// The trajectory metrics, each defined in docs/metrics.md. Distances are Euclidean over all values
// of a board's state and are summed in double.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/base/text/enum_names.h"
#include "driftless/task/score.h"

namespace driftless::study {

/// What the values of a metric may be, which decides the interval of their mean.
enum class Values : uint8_t {
  Any,     ///< mean +- 1.96 s / sqrt(n)
  Cosine,  ///< the same, ending at -1 and 1
  Share,   ///< between 0 and 1: Moments::share_interval
  Fact,    ///< 0 or 1, so that the mean is a share of boards: Wilson's
};

struct Metric {
  std::string_view name;
  std::string_view meaning;
  Values values = Values::Any;
};

/// Per supervision step, a value for each board. Records hold means with 95 % intervals.
inline constexpr std::array<Metric, 15> kStepMetrics = {{
    {"latent_divergence", "distance of z_L from the float model's"},
    {"answer_divergence", "distance of z_H from the float model's"},
    {"logit_divergence", "distance of the answer logits from the float model's"},
    {"state_norm", "norm of the float model's z_L"},
    {"exact", "boards with every cell right", Values::Fact},
    {"float_exact", "the same for the float model", Values::Fact},
    {"cells", "share of a board's cells that are right", Values::Share},
    {"float_cells", "the same for the float model", Values::Share},
    {"lost", "boards that the float model has right and this one wrong", Values::Fact},
    {"gained", "boards that the float model has wrong and this one right", Values::Fact},
    {"residual", "distance between the states after this step and the one before"},
    {"float_residual", "the same for the float model"},
    {"fidelity", "cosine of the states with the float model's", Values::Cosine},
    {"step_cosine", "cosine of the displacement of z_L with that of the step before",
     Values::Cosine},
    {"halt_flip", "boards whose halting decision differs from the float model's", Values::Fact},
}};

/// The 95 % interval of a mean of such values.
task::Interval interval_of(const task::Moments& moments, Values values);

double norm(std::span<const float> a);
/// Requires equal lengths, as do the following.
double distance(std::span<const float> a, std::span<const float> b);
double dot(std::span<const float> a, std::span<const float> b);

/// a.b / (|a| |b|); 1 where both are zero, 0 where one is.
double cosine(double dot_ab, double norm_a, double norm_b);

/// What becomes of a displacement as the recursion goes on.
enum class Verdict : uint8_t { Contracts, Saturates, Drifts };

inline constexpr std::array<EnumName<Verdict>, 3> kVerdictNames = {
    {{Verdict::Contracts, "contracts"},
     {Verdict::Saturates, "saturates"},
     {Verdict::Drifts, "drifts"}}};
std::string_view to_string(Verdict verdict);

/// The rule's numbers; docs/metrics.md says why.
inline constexpr double kContractsBelow = 0.9;    ///< last over first divergence
inline constexpr double kDriftsAbove = 1.05;      ///< last over first divergence
inline constexpr double kNegligibleLevel = 0.15;  ///< share of the distance of unrelated states
inline constexpr double kRelatedLevel = 0.5;      ///< share of the distance of unrelated states

/// The verdict on a curve of mean divergences, one per step. `unrelated` is the distance of two
/// states that have nothing to do with each other: sqrt(2) times the float model's norm. Throws
/// InvalidArgument without steps.
Verdict judge(std::span<const double> divergence, double unrelated);

}  // namespace driftless::study
