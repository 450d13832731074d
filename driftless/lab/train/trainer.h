// SPDX-License-Identifier: Apache-2.0
// A training run in memory: one optimizer step per supervision step of the whole batch. With
// several ranks each holds an equal share of the slots and the same weights. The step itself never
// waits for the host.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <ATen/ATen.h>

#include "driftless/lab/data/batches.h"
#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/quant/qat_plan.h"
#include "driftless/lab/quant/quantized_model.h"
#include "driftless/lab/ranks/ranks.h"
#include "driftless/lab/recipe/recipe.h"
#include "driftless/lab/train/evaluate.h"
#include "driftless/lab/train/health.h"
#include "driftless/lab/train/run_state.h"

namespace driftless::lab {

/// Type of the activations: bfloat16 on CUDA; float32 on a CPU, where bfloat16 would only be slow.
at::ScalarType activation_type(at::Device device);

/// A run before its first step: random weights from the seed, or named ones with fresh moments.
RunState fresh_run(const Recipe& recipe, const NamedTensors& weights, at::Device device);

/// How many boards of a batch each rank holds. Throws BadConfig unless the ranks divide the batch.
int64_t slots_per_rank(const Recipe& recipe, int64_t ranks);

struct TrainerOptions {
  at::Device device = at::kCPU;
  int64_t chunk = 512;  ///< boards at a time in the rounds without gradients, see StepOptions
  std::shared_ptr<Ranks> ranks = std::make_shared<Ranks>();
  std::optional<QatPlan> qat = {};  ///< of a recipe with [quant], and of no other
  /// Asked between layers by one rank on a CPU, where a step may take a minute. Several ranks would
  /// have to agree, and a device is done before one could ask.
  std::function<bool()> should_give_up = [] { return false; };
};

/// Thrown where TrainerOptions::should_give_up says yes: of what was begun nothing is kept.
class GivenUp : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "given up"; }
};

class RepeatedStep;
class Teacher;

class Trainer {
 public:
  /// Resumes with the carry where there is one, else with all slots free. Requires a StreamScope.
  /// Throws BadConfig when the run had another recipe, the boards another size, or the ranks do not
  /// divide the batch.
  Trainer(Recipe recipe, BoardPool pool, LoadedRun run, TrainerOptions options);
  ~Trainer();

  /// Enqueues the next step. After GivenUp the run is where it was before, and the step may be
  /// tried again.
  void step();

  /// Sums of all ranks since the last call; waits for the device. Throws Numeric with step and
  /// tensor when something was not finite; from that step on the weights have stayed as they were.
  TrainingTally take_tally();

  /// Accuracy of the averaged weights with the model's own cycles, whatever the stage. Throws
  /// GivenUp.
  [[nodiscard]] task::Score evaluate(std::span<const task::Example> boards) const;

  /// Saves state and carry: all ranks call it, rank 0 writes. Throws Numeric, naming the layer,
  /// when a learned scale has reached zero or infinity.
  void save(const std::filesystem::path& folder) const;

  /// The averaged model as evaluate() runs it: weights.safetensors in bfloat16 or, where layers are
  /// quantized, in float32 with their plan in plan.json.
  void export_model(const std::filesystem::path& folder) const;

  [[nodiscard]] const RunState& state() const { return state_; }
  [[nodiscard]] const Carry& carry() const { return carry_; }
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] Ranks& ranks() const { return *options_.ranks; }
  [[nodiscard]] at::Device device() const { return options_.device; }

 private:
  void run_step();
  void upload(int64_t step);
  void enter_stage(int64_t step);
  /// The boards' rows of the puzzle table; undefined without one.
  struct PuzzleRows {
    at::Tensor ids;
    at::Tensor values;  ///< collect a gradient
  };
  void start_model();
  [[nodiscard]] PuzzleRows puzzle_rows() const;
  [[nodiscard]] Loss loss_of(const StepOutput& output, const Inputs& inputs) const;
  void differentiate(const at::Tensor& loss);
  void share_gradients();
  void update(const PuzzleRows& puzzles);
  [[nodiscard]] std::string bad_gradient() const;
  [[nodiscard]] std::unique_ptr<QuantizedModel> averaged_model() const;

  Recipe recipe_;
  BoardPool pool_;
  TrainerOptions options_;
  RunState state_;
  OptimizerState scales_;  ///< log of the static scales; empty in float runs
  std::optional<QuantizedModel> model_;
  std::optional<RecursiveNet> net_;
  std::unique_ptr<Teacher> teacher_;  ///< null without distillation
  BetweenLayers between_;             ///< throws GivenUp; empty where nobody is asked
  FreshBoards fresh_;
  at::Tensor scalars_;        ///< StepScalars
  at::Tensor scale_scalars_;  ///< StepScalars of learned scales
  at::Tensor puzzle_rate_;    ///< learning rate of the puzzle table
  at::Tensor step_number_;
  Health health_;
  at::Tensor sums_;
  Carry carry_;
  std::unique_ptr<RepeatedStep> repeated_;
};

}  // namespace driftless::lab
