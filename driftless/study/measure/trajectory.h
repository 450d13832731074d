// SPDX-License-Identifier: Apache-2.0
// Follows boards along two trajectories, the float model's and another's, and adds up how they
// differ after each supervision step (kStepMetrics, and sums for the coherence across boards).
#pragma once

#include <cstdint>
#include <vector>

#include "driftless/reason/reasoner.h"
#include "driftless/study/measure/tally.h"
#include "driftless/task/table.h"

namespace driftless::study {

/// One board after a step (or, without a readout, before the first).
struct Snapshot {
  reason::States states;
  reason::Readout readout;
};

/// Whether the mean displacement over boards is kept: T * D doubles a step.
enum class Coherence { Ignore, Measure };

/// Series beyond kStepMetrics, one value a board: whether the first step that wants to halt
/// differs, and the mean over all steps of the fidelity.
inline constexpr std::string_view kHaltStepDiffers = "halt_step_differs";
inline constexpr std::string_view kPathFidelity = "path_fidelity";
/// The vector that sums displacements of z_L at step `step` (from 0), each of length T * D.
std::string displacement_name(int64_t step);

class TrajectoryProbe {
 public:
  /// For `boards` boards at a time. The task checks answers.
  TrajectoryProbe(const model::ModelConfig& config, const task::Task& task, int64_t boards,
                  Coherence coherence);

  /// Board number `index` of the batch starts; both models have been reset to it.
  void start(int64_t index, const reason::States& reference, const reason::States& other);

  /// The board after step number `step`, counted from 0; the last one adds what is known only at
  /// the end.
  enum class Position { Middle, Last };
  void observe(int64_t index, int64_t step, Position position, const task::Example& example,
               const Snapshot& reference, const Snapshot& other, Tally& tally);

 private:
  struct Path {
    std::vector<float> h, l;  // the states before this step
    int64_t halt_step = 0;    // first step that wants to halt, from 1; 0 for none yet
  };
  struct BoardPaths {
    Path reference, other;
    std::vector<float> displacement;  // of z_L before this step
    double displacement_norm = 0;
    double fidelity_sum = 0;
  };

  void compare_states(BoardPaths& paths, int64_t step, const Snapshot& reference,
                      const Snapshot& other, Tally& tally) const;
  void compare_displacement(BoardPaths& paths, int64_t step, const Snapshot& reference,
                            const Snapshot& other, Tally& tally) const;
  void compare_answers(BoardPaths& paths, int64_t step, const task::Example& example,
                       const Snapshot& reference, const Snapshot& other, Tally& tally) const;

  const model::ModelConfig& config_;
  const task::Task& task_;
  Coherence coherence_;
  std::vector<BoardPaths> boards_;
};

/// The coherence of the displacements of z_L at one step, from the sums of a tally.
struct StepCoherence {
  double across_boards = 0;     ///< norm of the mean displacement over the mean of the norms
  double direction_cosine = 0;  ///< of the mean displacement with that of the step before
};
/// Per step; empty where coherence was not measured.
std::vector<StepCoherence> coherence(const Tally& tally, int64_t steps);

}  // namespace driftless::study
