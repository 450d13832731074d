// SPDX-License-Identifier: Apache-2.0
// A training run: one optimizer step per supervision step of the whole batch, evaluation and
// checkpoints in between. The step itself never waits for the host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/batches.h"
#include "driftless/lab/evaluate.h"
#include "driftless/lab/recipe.h"
#include "driftless/lab/recursive_net.h"
#include "driftless/lab/run_state.h"

namespace driftless::lab {

/// Type of the activations: bfloat16 on CUDA; float32 on a CPU, where bfloat16 would only be slow.
at::ScalarType activation_type(at::Device device);

/// A run before its first step: random weights from the seed, or named ones with fresh moments.
RunState fresh_run(const Recipe& recipe, const NamedTensors& weights, at::Device device);

struct TrainerOptions {
  at::Device device = at::kCPU;
  int64_t chunk = 512;  ///< boards at a time in the rounds without gradients, see StepOptions
};

class RepeatedStep;

class Trainer {
 public:
  /// Resumes with the carry where there is one, else with all slots free. Requires a StreamScope.
  Trainer(Recipe recipe, BoardPool pool, LoadedRun run, TrainerOptions options);
  ~Trainer();

  /// Enqueues the next step.
  void step();

  /// Sums since the last call; waits for the device. Throws Numeric with the step range when a loss
  /// was not finite; from that step on the weights have stayed as they were.
  Tally take_tally();

  /// Accuracy of the averaged weights.
  [[nodiscard]] Score evaluate(std::span<const task::sudoku::Puzzle> puzzles) const;

  [[nodiscard]] const RunState& state() const { return state_; }
  [[nodiscard]] const Carry& carry() const { return carry_; }
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }

 private:
  void run_step();
  void upload(int64_t step);

  Recipe recipe_;
  BoardPool pool_;
  TrainerOptions options_;
  RunState state_;
  RecursiveNet net_;
  FreshBoards fresh_;
  at::Tensor scalars_;
  at::Tensor is_bad_;
  at::Tensor sums_;
  Carry carry_;
  int64_t tally_begin_ = 0;
  std::unique_ptr<RepeatedStep> repeated_;
};

}  // namespace driftless::lab
