// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/model_input.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "driftless/base/error.h"

namespace driftless::cli {

std::filesystem::path default_model() {
  const char* const folder = std::getenv("DRIFTLESS_MODELS");
  return std::filesystem::path(folder != nullptr ? folder : DRIFTLESS_MODELS_FOLDER) /
         "sudoku-small.safetensors";
}

const task::Task& task_of(const store::Checkpoint& checkpoint) {
  const model::ModelConfig& config = checkpoint.config;
  DRIFTLESS_REQUIRE(config.task != model::Task::Other, ErrorCode::Unsupported,
                    "the model's task is 'other', which has no files of its own");
  DRIFTLESS_REQUIRE(config.puzzle_emb_len == 0 || config.num_puzzle_identifiers == 1,
                    ErrorCode::Unsupported, "the model has a row for each of ",
                    config.num_puzzle_identifiers,
                    " puzzles and boards from a file do not say which is theirs");
  return task::find_task(model::to_string(config.task));
}

void require_fits(const store::Checkpoint& checkpoint, std::span<const task::Example> examples,
                  const std::string& where) {
  for (const task::Example& example : examples)
    DRIFTLESS_REQUIRE(std::ssize(example.input) == checkpoint.config.seq_len, ErrorCode::BadFile,
                      where, ": board; got ", example.input.size(), " cells, expected ",
                      checkpoint.config.seq_len, " as the model has");
}

std::vector<reason::Board> boards_of(std::span<const task::Example> examples, uint64_t seed) {
  std::vector<reason::Board> boards;
  for (const task::Example& example : examples)
    boards.push_back({.tokens = example.input, .seed = seed + boards.size()});
  return boards;
}

int64_t default_threads() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }

}  // namespace driftless::cli
