// SPDX-License-Identifier: Apache-2.0
// Runs the float model and several quantized ones side by side, one supervision step at a time over
// one batch of boards, and lets the probes look at every step. Memory is bounded by the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/thread_pool.h"
#include "driftless/study/backend.h"
#include "driftless/study/measure/dynamics.h"
#include "driftless/study/measure/tally.h"
#include "driftless/study/measure/trajectory.h"
#include "driftless/task/table.h"

namespace driftless::study {

/// Names of tallies, 1 or 0 for each board: right in simulation and wrong natively, the other way
/// round, and the same answer in both.
inline constexpr std::string_view kNativeLost = "native_lost";
inline constexpr std::string_view kNativeGained = "native_gained";
inline constexpr std::string_view kNativeSame = "native_same";

/// A quantized model and what to measure on it.
struct Subject {
  quant::QuantPlan plan;
  int64_t layer_boards = 0;
  bool coherence = false;
  bool dynamics = false;
  Execution execution = Execution::Simulated;
};

struct LockstepOptions {
  model::ModelConfig config;
  int64_t steps = 1;
  int64_t batch = 1;
  uint64_t seed = 0;    ///< of random initial states and noise (EqR) and of perturbations
  int64_t threads = 1;  ///< that compare trajectories
};

/// What one subject did with a batch.
struct BatchResult {
  Tally tally;
  double wall_s = 0;        ///< in the subject's supervision steps, without observed boards
  double float_wall_s = 0;  ///< in the float model's
};

class Lockstep {
 public:
  Lockstep(const LockstepOptions& options, const task::Task& task, const Backend& backend,
           std::span<const Subject> subjects);

  /// One result for each subject; a native one that follows a simulated one with its plan is
  /// compared with it, too. `first_board` numbers the examples, at most a batch, within the
  /// study. Throws Numeric when a logit is not finite.
  std::vector<BatchResult> run(std::span<const task::Example> examples, int64_t first_board);

 private:
  struct Runner {
    Subject subject;
    std::unique_ptr<reason::Reasoner> own;  // none where the plan changes nothing
    reason::Reasoner* reasoner;
    TrajectoryProbe trajectory;
    std::unique_ptr<DynamicsProbe> dynamics;
    std::optional<size_t> simulation;  // the runner that simulates what this one does natively
  };

  void start(std::span<const reason::Board> boards, int64_t first_board);
  void step_runner(Runner& runner, int64_t first_board, BatchResult& result);
  void observe(Runner& runner, int64_t step, std::span<const task::Example> examples,
               int64_t first_board, Tally& tally);

  void compare_with_simulation(const Runner& runner, std::span<const task::Example> examples,
                               Tally& tally) const;

  LockstepOptions options_;
  const task::Task& task_;
  ThreadPool pool_;
  std::unique_ptr<reason::Reasoner> reference_;
  std::vector<Runner> runners_;
  std::vector<int64_t> slots_;  // of the current batch
};

}  // namespace driftless::study
