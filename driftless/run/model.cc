// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/model.h"

#include <utility>

#include "driftless/base/error.h"

namespace driftless::run {

store::Checkpoint require_float(store::ModelFile model, const std::string& where) {
  DRIFTLESS_REQUIRE(
      !model.packed, ErrorCode::InvalidArgument, where,
      ": got a packed model, expected a float checkpoint, such as its source; 'driftless "
      "info' shows the source's SHA-256");
  return std::move(model.checkpoint);
}

const task::Task& task_of(const store::Checkpoint& checkpoint) {
  return task::find_task(checkpoint.config.task);
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

}  // namespace driftless::run
