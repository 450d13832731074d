// SPDX-License-Identifier: Apache-2.0
// A model as the rest of the project wants it: configuration and named float32 tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/model/config.h"
#include "driftless/store/safetensors.h"
#include "driftless/store/tensor.h"

namespace driftless::store {

/// Row-major float32 values.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

/// By the names that model::parameters gives.
using TensorMap = std::map<std::string, Tensor>;

struct Checkpoint {
  model::ModelConfig config;
  TensorMap tensors;
  Metadata metadata;  // of the file, without the configuration
};

/// Checks that the tensors are exactly those of the configuration, each with its shape and without
/// NaN or infinity. Throws BadFile (missing, extra, wrong shape) or Numeric, with `where`, the key,
/// what was found and what was expected.
void require_complete(const model::ModelConfig& config, const TensorMap& tensors,
                      std::string_view where);

/// Reads a safetensors file with its configuration under the metadata key `config`. Throws Io,
/// BadFile, BadConfig, Unsupported or Numeric.
Checkpoint load_checkpoint(const std::filesystem::path& path);
Checkpoint parse_checkpoint(const Safetensors& file);

/// Writes a checkpoint that load_checkpoint reads back; `weights` is F32, F16 or BF16. The initial
/// states stay F32. Throws what require_complete throws, Numeric where a value does not fit, or Io.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                     DType weights = DType::F32);

}  // namespace driftless::store
