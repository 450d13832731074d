// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/model_input.h"

#include <algorithm>
#include <thread>

#include "driftless/base/error.h"
#include "driftless/cli/data_folder.h"

namespace driftless::cli {

std::filesystem::path default_model() { return data_folder("models") / "sudoku-small.safetensors"; }

std::filesystem::path default_packed_model() {
  return data_folder("models") / "sudoku-small-mxint4.safetensors";
}

ModelFile load_model(const std::filesystem::path& path) {
  if (!store::is_packed(path)) return {.checkpoint = store::load_checkpoint(path)};
  store::PackedModel packed = store::load_packed(path);
  store::Checkpoint checkpoint{.config = packed.config, .tensors = {}, .metadata = {}};
  return {.checkpoint = std::move(checkpoint), .packed = std::move(packed)};
}

store::Checkpoint load_float_model(const std::filesystem::path& path) {
  DRIFTLESS_REQUIRE(!store::is_packed(path), ErrorCode::InvalidArgument, path.string(),
                    ": got a packed model, expected a float checkpoint, such as its source");
  return store::load_checkpoint(path);
}

const task::Task& task_of(const store::Checkpoint& checkpoint) {
  const model::ModelConfig& config = checkpoint.config;
  DRIFTLESS_REQUIRE(config.task != model::Task::Other, ErrorCode::Unsupported,
                    "the model's task is 'other', which has no files of its own");
  return task::find_task(model::to_string(config.task));
}

void require_fits(const store::Checkpoint& checkpoint, std::span<const task::Example> examples,
                  const std::string& where) {
  const model::ModelConfig& config = checkpoint.config;
  for (const task::Example& example : examples) {
    DRIFTLESS_REQUIRE(std::ssize(example.input) == config.seq_len, ErrorCode::BadFile, where,
                      ": board; got ", example.input.size(), " cells, expected ", config.seq_len,
                      " as the model has");
    DRIFTLESS_REQUIRE(config.puzzle_emb_len == 0 || example.puzzle < config.num_puzzle_identifiers,
                      ErrorCode::BadFile, where, ": puzzle identifier; got ", example.puzzle,
                      ", expected one of the model's ", config.num_puzzle_identifiers);
  }
}

int64_t default_threads() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }

}  // namespace driftless::cli
