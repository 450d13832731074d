// SPDX-License-Identifier: Apache-2.0
// Noisy trajectories as a control: K times the same board, with independent Gaussian noise on z_L
// before every supervision step (and, for models that draw their initial states, other ones), and
// five ways to make one answer of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "driftless/reason/reasoner.h"
#include "driftless/study/measure/tally.h"
#include "driftless/task/table.h"

namespace driftless::study {

/// average: the largest mean logit of each cell. select: the trajectory with the largest halting
/// score, the first on ties. settled: the one whose logits change least, the first on ties and
/// after step 1. majority: the most frequent whole answer, the first on ties. any: right if some
/// trajectory is. single: the first trajectory alone.
inline constexpr std::array<std::string_view, 6> kRolloutAnswers = {"average",  "select", "settled",
                                                                    "majority", "any",    "single"};
/// The change of a trajectory's logits: over one step the mean over cells of the Euclidean
/// distance, then the mean over this many last steps, or as many as there were.
inline constexpr size_t kSettlingWindow = 3;
/// Series by step: "rollout.select.exact", "rollout.select.cells"; cells of `any` are those of its
/// best trajectory.
std::string rollout_name(std::string_view answer, std::string_view metric);
/// Distance of the mean z_L of all trajectories from the float model's, after the last step.
inline constexpr std::string_view kRolloutDivergence = "rollout.latent_divergence";

struct RolloutOptions {
  int64_t rollouts = 1;
  double noise = 0;
  uint64_t seed = 0;
  int64_t steps = 1;
};

/// A batch of boards with what the float model made of them.
struct RolloutBatch {
  std::span<const task::Example> examples;
  std::span<const reason::Board> boards;
  int64_t first_board = 0;                            ///< number of the first one within the study
  std::vector<std::vector<float>> float_latent{};     ///< z_L after the last step, by board
  std::vector<std::vector<uint8_t>> float_answers{};  ///< after the last step, by board
};

/// Runs the batch in slots 0 ... and adds up how each kind of answer does; `select` also counts as
/// the answer in the accuracy series of kStepMetrics, at index 0.
void run_rollouts(reason::Reasoner& reasoner, const task::Task& task, const RolloutBatch& batch,
                  const RolloutOptions& options, Tally& tally);

}  // namespace driftless::study
