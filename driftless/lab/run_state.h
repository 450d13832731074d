// SPDX-License-Identifier: Apache-2.0
// A training run on disk: what is needed to go on as if it had never stopped. The folder holds
// state.safetensors (weights, moments, average) and carry-<step>.safetensors (boards and states in
// flight). The carry is written first and named by its step, so a kill at any moment leaves a
// complete pair; a state without its carry resumes with all slots free.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "driftless/lab/carry.h"
#include "driftless/lab/optimizer.h"
#include "driftless/lab/parameters.h"
#include "driftless/store/safetensors.h"

namespace driftless::lab {

struct RunState {
  int64_t step = 0;
  std::string recipe;  ///< describe_text of the run
  OptimizerState optimizer;
  States initial;  ///< [D] float32
};

/// Writes both files and removes older carries. Throws Numeric when a weight is not finite, so that
/// the last good state stays, or Io.
void save_run(const std::filesystem::path& folder, const RunState& state, const Carry& carry);

struct LoadedRun {
  RunState state;  ///< gradients zero, copy in `activations`; all on `device`
  std::optional<Carry> carry;
};
/// Throws Io or BadFile.
LoadedRun load_run(const std::filesystem::path& folder, const Layout& layout,
                   at::ScalarType activations, at::Device device);

/// Weights of a checkpoint file, on the CPU. Throws BadConfig when its configuration differs from
/// the recipe's.
NamedTensors load_weights(const std::filesystem::path& path, const model::ModelConfig& config);

/// A checkpoint file of `named` in `dtype`, with `step` in its metadata.
void save_weights(const std::filesystem::path& path, const model::ModelConfig& config,
                  const NamedTensors& named, int64_t step, store::DType dtype);

/// The moving average as a checkpoint in bfloat16, with `step` in its metadata.
void export_weights(const std::filesystem::path& path, const model::ModelConfig& config,
                    const RunState& state);

}  // namespace driftless::lab
