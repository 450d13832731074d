// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/model_input.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "driftless/base/error.h"
#include "driftless/cli/data_folder.h"

namespace driftless::cli {

std::filesystem::path default_model() { return data_folder("models") / "sudoku-small.safetensors"; }

std::filesystem::path default_packed_model() {
  return data_folder("models") / "sudoku-small-mxint4.safetensors";
}

ModelFile load_model(const std::filesystem::path& path) {
  ModelFile model = store::open_model(path);
  std::string line;
  for (const store::Finding& finding : model.found)
    line += (line.empty() ? "" : "; ") + finding.what + " " + finding.text;
  if (!line.empty())
    std::fprintf(stderr, "driftless: %s: %s\n", path.string().c_str(), line.c_str());
  return model;
}

store::Checkpoint load_float_model(const std::filesystem::path& path) {
  ModelFile model = load_model(path);
  DRIFTLESS_REQUIRE(!model.packed, ErrorCode::InvalidArgument, path.string(),
                    ": got a packed model, expected a float checkpoint, such as its source");
  return std::move(model.checkpoint);
}

const task::Task& task_of(const store::Checkpoint& checkpoint) {
  const model::Task task = checkpoint.config.task;
  return task == model::Task::Other ? task::other_task() : task::find_task(model::to_string(task));
}

void require_fits(const store::Checkpoint& checkpoint, std::span<const task::Example> examples,
                  const std::string& where) {
  const model::ModelConfig& config = checkpoint.config;
  for (const task::Example& example : examples) {
    DRIFTLESS_REQUIRE(std::ssize(example.input) == config.seq_len, ErrorCode::BadFile, where,
                      ": board; got ", example.input.size(), " cells, expected ", config.seq_len,
                      " as the model has; a model without a table of positions takes others: "
                      "'driftless convert' with --cells");
    DRIFTLESS_REQUIRE(config.puzzle_emb_len == 0 || example.puzzle < config.num_puzzle_identifiers,
                      ErrorCode::BadFile, where, ": puzzle identifier; got ", example.puzzle,
                      ", expected one of the model's ", config.num_puzzle_identifiers);
  }
}

int64_t default_threads() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }

}  // namespace driftless::cli
