// SPDX-License-Identifier: Apache-2.0
// A training run on disk: what is needed to go on as if it had never stopped. The folder holds
// state.safetensors (weights, moments, average) and carry-<step>.safetensors (boards and states in
// flight). The carry is written first and named by its step, so a kill at any moment leaves a
// complete pair; a state without its carry resumes with all slots free. A state may also have the
// form of train/travel.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "driftless/lab/net/parameters.h"
#include "driftless/lab/optimize/optimizer.h"
#include "driftless/lab/train/carry.h"
#include "driftless/model/shapes.h"
#include "driftless/store/checkpoint.h"
#include "driftless/store/safetensors.h"

namespace driftless::lab {

struct RunState {
  int64_t step = 0;
  std::string recipe;  ///< describe_text of the run
  OptimizerState optimizer;
  TensorStates initial;     ///< [D] float32; undefined for EqR
  at::Tensor puzzle_table;  ///< [N, puzzle_emb_ndim] float32; undefined without prefix rows
  OptimizerState scales;    ///< log of a quantized run's static scales; undefined in float runs
  at::Tensor teacher;       ///< flat float weights that distillation follows; else undefined
};

/// The tensor of a parameter that is not in the flat vectors: an initial state or the puzzle table.
at::Tensor& extra_tensor(RunState& state, const model::ParamSpec& spec);

/// Writes both files, then removes older carries and what a killed run left half-written. Throws
/// Numeric when a weight is not finite, so that the last good state stays, or Io.
void save_run(const std::filesystem::path& folder, const RunState& state, const Carry& carry);

struct LoadedRun {
  RunState state;  ///< gradients zero, copy in `activations`; all on `device`
  std::optional<Carry> carry;
};
/// The average less the weights, in place of 'ema' in a state that travels.
inline constexpr const char* kTravellingAverage = "ema_less_values";
/// The step that a state file was saved after. Throws BadFile.
int64_t state_step(const store::Safetensors& file);
/// Whether the folder holds a run to resume.
bool has_run(const std::filesystem::path& folder);
/// Throws Io or BadFile.
LoadedRun load_run(const std::filesystem::path& folder, const model::ModelConfig& config,
                   at::ScalarType activations, at::Device device);

/// The tensors that a model of this configuration has, from a checkpoint file, on the CPU. The file
/// may hold another recursion over the same tensors: a tied model gives each cycle of an untied one
/// its weights, and a model without noise starts stochastic TRM's scales at zero. Throws BadConfig
/// where one is missing or has another shape.
NamedTensors load_weights(const std::filesystem::path& path, const model::ModelConfig& config);

/// `named` as a checkpoint in memory.
store::Checkpoint to_checkpoint(const model::ModelConfig& config, const NamedTensors& named);

/// A checkpoint file of `named` in `dtype`, with `step` in its metadata.
void save_weights(const std::filesystem::path& path, const model::ModelConfig& config,
                  const NamedTensors& named, int64_t step, store::DType dtype);

/// The moving average as a checkpoint, with `step` in its metadata.
void export_weights(const std::filesystem::path& path, const model::ModelConfig& config,
                    const RunState& state, store::DType dtype);

}  // namespace driftless::lab
