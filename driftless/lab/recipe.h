// SPDX-License-Identifier: Apache-2.0
// A training run as data, read from TOML. Sections in order: task, model, recursion, train, eval,
// output. Every key that a recipe leaves out has the default below, except those marked required.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driftless/lab/optimizer_options.h"
#include "driftless/model/config.h"

namespace driftless::lab {

struct Recipe {
  struct PoolFile {
    std::string file;  ///< required; relative to the data folder
    int64_t min_rating = 0;
    double share = 1;
  };
  std::vector<PoolFile> pool;  ///< [[task.pool]], required
  model::ModelConfig model;    ///< [model] and [recursion]
  double halt_exploration = 0.1;

  int64_t seed = 0;  ///< required
  int64_t batch = 512;
  LearningRate lr;
  OptimizerOptions optimizer;

  std::string eval_file;  ///< required; relative to the data folder
  int64_t eval_boards = 1024;

  int64_t log_every = 100;        ///< steps
  int64_t eval_every = 2000;      ///< steps
  int64_t checkpoint_every = 60;  ///< seconds
};

/// Reads and checks. `where` starts every message. Throws BadConfig with the line on malformed
/// TOML, an unknown key (naming the nearest), a wrong type, a missing required key or a value out
/// of range.
Recipe parse_recipe(std::string_view text, std::string_view where);

/// The resolved recipe as key and value texts, in file order.
std::vector<std::pair<std::string, std::string>> describe(const Recipe& recipe);

/// Throws BadConfig naming the keys in which a run cannot go on as the other recipe says. Only the
/// length of the run, its decay, the evaluation and the intervals may differ.
void require_resumable(const Recipe& recipe, const std::string& saved_description);

/// describe() as lines "key = value".
std::string describe_text(const Recipe& recipe);

}  // namespace driftless::lab
