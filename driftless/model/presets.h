// SPDX-License-Identifier: Apache-2.0
// The published configurations by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/model/config.h"

namespace driftless::model {

/// The boards that published models of a task have seen: what tells a task from a file's shapes.
struct PublishedBoards {
  enum class Sizes { One, Any };
  std::string_view task;
  int64_t vocab_size;  ///< belongs to one task
  int64_t cells;
  Sizes sizes;  ///< whether boards of the task have other sizes too
};
std::span<const PublishedBoards> published_boards();

struct Preset {
  std::string_view name;
  std::string_view summary;
  ModelConfig config;
  int64_t trainable_parameters;  // as published; trainable_count(config) must agree
};

/// All presets. ARC rows have a puzzle table of one row: a data set sets its own number.
std::span<const Preset> presets();

/// The preset called `name`. Throws InvalidArgument naming the nearest.
const Preset& find_preset(std::string_view name);

}  // namespace driftless::model
