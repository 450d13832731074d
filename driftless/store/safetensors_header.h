// SPDX-License-Identifier: Apache-2.0
// What a safetensors file says of itself, without its data.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "driftless/model/config.h"
#include "driftless/store/safetensors.h"

namespace driftless::store {

struct SafetensorsHeader {
  std::string where;  ///< starts every message
  Metadata metadata;
  std::map<std::string, TensorView> tensors;  ///< without bytes
};

/// Reads no more than the header and checks all that Safetensors checks. Throws Io too.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& path);

/// The configuration of a checkpoint, whose tensors it fits. Throws as load_checkpoint, but for
/// the values.
model::ModelConfig parse_config(const SafetensorsHeader& header);

}  // namespace driftless::store
