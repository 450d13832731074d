// SPDX-License-Identifier: Apache-2.0
// TRM, HRM, EqR and untied TRM on libtorch: one supervision step from carried states to logits, by
// model's networks and schedule. Shapes: states [B, T, D], logits [B, S, V], halting logits [B].
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/net/block.h"
#include "driftless/lab/net/parameters.h"
#include "driftless/lab/net/step_tap.h"
#include "driftless/model/config.h"
#include "driftless/model/schedule.h"

namespace driftless::lab {

struct TensorStates {
  at::Tensor h;  ///< z_H, read out as the answer
  at::Tensor l;  ///< z_L, scratch
};

struct Inputs {
  at::Tensor tokens;   ///< [B, S] uint8
  at::Tensor puzzles;  ///< [B, puzzle_emb_ndim] float32: each board's row of the puzzle table,
                       ///< which collects a gradient where it wants one; unused without prefix rows
};

struct StepOutput {
  TensorStates states;  ///< detached
  at::Tensor logits;    ///< float32
  at::Tensor halt;      ///< float32 halting logit
  at::Tensor go_on;     ///< float32 continue logit; trained in HRM only
};

/// Standard normal values [count, T, D] for the boards from `first` on, as EqR and stochastic TRM
/// add them after network call `call`.
using NoiseSource = std::function<at::Tensor(int64_t call, int64_t first, int64_t count)>;

struct StepOptions {
  /// Boards are independent, so calls without gradients run on this many at a time: small chunks
  /// keep the inner activations in the device's cache.
  int64_t chunk = 512;
  StepTap* tap = nullptr;      ///< sees all boards at once, whatever the chunk
  at::Tensor not_finite = {};  ///< as in Site, with `boards`
  std::span<const int64_t> boards = {};
  NoiseSource noise = {};  ///< torch's generator unless given
  BetweenLayers between = {};
  ChangeMemory* changes = nullptr;  ///< as in Site
};

class RecursiveNet {
 public:
  /// Binds the network to its weights. Initial states come as [D]; EqR has none.
  RecursiveNet(const model::ModelConfig& config, const FlatWeights& weights,
               const TensorStates& initial = {});

  /// Reads the copies anew after an optimizer step has changed them.
  void refresh();

  /// One supervision step. Only the calls that the schedule marks are differentiated; with
  /// gradients off, none is. Throws InvalidArgument on inputs of another shape.
  [[nodiscard]] StepOutput step(const TensorStates& states, const Inputs& inputs,
                                const StepOptions& options = {}) const;

  /// The step's calls from number `first_call` on, of states that the ones before have left.
  /// Without gradients, all boards at a time; the tap of the options sees them.
  void rest_of_step(int64_t first_call, const TensorStates& states, const Inputs& inputs,
                    const StepOptions& options) const;

  /// What a board starts from, [boards, T, D] in the type of the activations. EqR draws it from
  /// torch's generator; the others share one vector between all rows, so copy before writing.
  [[nodiscard]] TensorStates initial_states(int64_t boards) const;

  /// Stochastic TRM: how far its noise is from N(0, noise_scale^2), as the Kullback-Leibler
  /// divergence's mean over channels, for the gradient of the scales. Without such noise undefined.
  [[nodiscard]] at::Tensor noise_divergence() const;

  [[nodiscard]] const model::ModelConfig& config() const { return config_; }

 private:
  /// A range of the schedule and the first of the boards it runs for.
  struct Part {
    int64_t first_call;
    int64_t end_call;
    int64_t first_board;
  };

  [[nodiscard]] const LayerQuantizer* quantizer_of(std::string_view name) const;
  /// The named weight as it is multiplied, differentiable.
  [[nodiscard]] at::Tensor cast(std::string_view name) const;
  [[nodiscard]] at::Tensor embed(const Inputs& inputs) const;
  [[nodiscard]] TensorStates run(const Part& part, TensorStates states, const at::Tensor& x,
                                 const StepOptions& options) const;
  [[nodiscard]] TensorStates run_without_gradients(int64_t end_call, const TensorStates& states,
                                                   const at::Tensor& x,
                                                   const StepOptions& options) const;
  [[nodiscard]] at::Tensor damped(const Part& part, int64_t call, const at::Tensor& before,
                                  const at::Tensor& after, const StepOptions& options) const;
  [[nodiscard]] at::Tensor perturbed(const Part& part, int64_t call, const at::Tensor& after,
                                     const StepOptions& options) const;
  [[nodiscard]] at::Tensor answer_logits(const at::Tensor& h, const Site& site) const;
  [[nodiscard]] at::Tensor halting_logits(const at::Tensor& h, const Site& site) const;
  [[nodiscard]] StepOutput read_out(const TensorStates& states, const StepOptions& options) const;

  model::ModelConfig config_;
  std::vector<model::NetworkCall> calls_;
  int64_t first_gradient_ = 0;  ///< the calls from here on are differentiated
  ParameterLayout layout_;
  NamedTensors masters_;  ///< views of the flat masters; their gradients are views of the flat ones
  at::Tensor copy_;
  const LayerQuantizers* quantizers_;
  const BlockEngine* engine_;
  TensorStates initial_;
  RopeTables rope_;
  std::vector<std::vector<Block>> networks_;
};

}  // namespace driftless::lab
