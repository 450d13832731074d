// SPDX-License-Identifier: Apache-2.0
// A model of 4x4 Sudoku small enough to train inside a unit test.
#pragma once

#include <string>
#include <vector>

#include "driftless/lab/train/trainer.h"
#include "driftless/task/sudoku/generator.h"
#include "driftless/task/table.h"

namespace driftless::lab::testing {

inline constexpr const char* kTinyRecipe = R"(
[[task.pool]]
file = "boards.csv"
[model]
vocab_size = 6
seq_len = 16
hidden_size = 32
num_layers = 1
expansion = 1
[recursion]
h_cycles = 2
l_cycles = 2
halt_max_steps = 4
[train]
seed = 5
batch = 16
lr = 1e-3
weight_decay = 0.1
warmup_steps = 10
ema_rate = 0.9
steps = 200
[eval]
file = "boards.csv"
)";

inline const task::Task& sudoku() { return task::find_task("sudoku"); }

inline std::vector<task::Example> tiny_boards(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<task::Example> boards;
  for (int64_t i = 0; i < count; ++i) {
    const auto puzzle = task::sudoku::generate({.box = 2}, rng);
    boards.push_back({"", to_tokens(puzzle.question), to_tokens(puzzle.answer)});
  }
  return boards;
}

inline NamedTensors drawn_weights(const model::ModelConfig& config, uint64_t seed) {
  Rng rng(seed);
  return initial_weights(config, rng);
}

inline Recipe tiny_recipe() { return parse_recipe(kTinyRecipe, "tiny"); }

inline BoardPool tiny_pool() { return {sudoku(), {{tiny_boards(64, 3), 1.0}}}; }

inline LoadedRun tiny_start(const Recipe& recipe) {
  const NamedTensors weights = drawn_weights(recipe.model, static_cast<uint64_t>(recipe.seed));
  return {fresh_run(recipe, weights, at::kCPU), std::nullopt};
}

}  // namespace driftless::lab::testing
