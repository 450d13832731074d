// SPDX-License-Identifier: Apache-2.0
// PyTorch zip checkpoints: TRM and HRM state dicts, and EqR's training state.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "driftless/store/checkpoint.h"
#include "driftless/store/torch/yaml.h"

namespace driftless::store {

/// Weights by the names that model::parameters gives, with what the file says about itself.
struct TorchModel {
  TensorMap tensors;
  FlatConfig config;    // of EqR's training state, as all_config.yaml has it; otherwise empty
  std::string weights;  // which of the file's weights these are: "state_dict" or "ema.shadow"
};

/// The name after the wrappers of a state dict: every `_orig_mod` segment is dropped, then
/// everything up to and including the last `inner`; without one, leading `model` segments.
std::string plain_name(std::string_view key);

/// Whether a plain name is no part of a model: a buffer of the sparse embedding that is refilled
/// with every batch, or a table of rotations that follows from the configuration.
bool is_scratch(std::string_view name);

/// Reads the tensors of a state dict; of a training state those of `ema.shadow`, and from its
/// `model` only what an average does not cover (initial states, the puzzle table and fixed
/// positions). Throws Io, BadFile, Unsupported.
TorchModel read_torch(const std::filesystem::path& path);

}  // namespace driftless::store
