// SPDX-License-Identifier: Apache-2.0
// A training run as data, read from TOML. Sections in order: task, model, recursion, train, quant,
// eval, output. Every key that a recipe leaves out has the default below, except those marked
// required.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driftless/lab/optimize/optimizer_options.h"
#include "driftless/model/config.h"
#include "driftless/task/table.h"

namespace driftless::lab {

/// Boards from a file, or made by the generator. One of `file` and `generate` is required.
struct BoardSource {
  std::string file;         ///< relative to the data folder; may be a data-set folder, ARC's must
  int64_t generate = 0;     ///< Sudoku and mazes: how many boards to make
  int64_t seed = -1;        ///< of the generator; required with `generate`
  int64_t extra_clues = 0;  ///< Sudoku with `generate`: each board shows 0 to this many clues more
  int64_t min_rating = 0;   ///< Sudoku: least number of guesses
  int64_t min_path = 110;   ///< mazes with `generate`: least cells of the path
};

/// [quant]: what is trained is the quantized model (driftless qat). Quantizers as in spec.h.
struct QuantRecipe {
  std::string weights = "none";
  std::string acts = "none";
  std::string coverage = "block";
  /// naive: scales from the weights; lsq: learned scales; round: scales of the float weights, and
  /// only how these are rounded is learned
  std::string weight_method = "naive";
  std::string act_method = "naive";  ///< naive: scales as `acts` says; lsq: learned scales
  std::string bias = "float";
  std::string plan;             ///< JSON file beside the recipe, instead of a pair and coverage
  bool iteration_norm = false;  ///< E4: static scales of its own for each network call of a step
  double scale_lr = 1e-3;       ///< of learned scales' logarithms; the schedule is that of `lr`
  double distill = 0;           ///< E5: weight of the distance to the float model's states
  /// Whether the float model starts the differentiated calls from the quantized model's states.
  bool distill_local = false;
  bool labels = true;              ///< whether answers and halting count beside the distance
  int64_t calibration_boards = 8;  ///< for the start of static activation scales
};

struct Recipe {
  std::string task = "sudoku";  ///< a row of the task table
  bool augment = true;          ///< a random symmetry at every draw
  struct PoolPart {
    BoardSource source;
    double share = 1;
  };
  std::vector<PoolPart> pool;  ///< [[task.pool]], required

  model::ModelConfig model;  ///< [model], on top of model.preset where given, and [recursion]
  double halt_exploration = 0.1;
  /// [[recursion.stage]]: a depth curriculum. From the step after `from_step` on, training runs
  /// these cycles; before the first stage it runs the model's.
  struct Stage {
    int64_t from_step = 0;
    int64_t h_cycles = 0;  ///< required
    int64_t l_cycles = 0;  ///< required
  };
  std::vector<Stage> stages;

  int64_t seed = 0;  ///< required
  int64_t batch = 512;
  LearningRate lr;
  OptimizerOptions optimizer;
  /// Sign-SGD of the puzzle table, for models with prefix rows; the schedule is that of `lr`. Its
  /// number of rows is no key: it comes with the data, see fit_puzzle_table.
  double puzzle_lr = 1e-2;
  double puzzle_weight_decay = 0.1;

  /// Stochastic TRM: weight of RecursiveNet::noise_divergence in a board's loss, which keeps the
  /// learned noise from vanishing.
  double noise_weight = 0.1;

  bool has_quant = false;  ///< whether there is a section [quant]
  QuantRecipe quant;

  BoardSource eval;
  int64_t eval_boards = 1024;  ///< at most

  int64_t log_every = 100;        ///< steps
  int64_t eval_every = 2000;      ///< steps
  int64_t checkpoint_every = 60;  ///< seconds
};

/// Reads and checks. `where` starts every message. Throws BadConfig with the line on malformed
/// TOML, an unknown key (naming the nearest), a repeated key, a wrong type, a missing required key
/// or a value out of range.
Recipe parse_recipe(std::string_view text, std::string_view where);

/// The task of the recipe.
const task::Task& task_of(const Recipe& recipe);

/// The model as it trains at step t, counted from 1: with the cycles of the stage.
model::ModelConfig model_at(const Recipe& recipe, int64_t t);

/// The resolved recipe as key and value texts, in file order.
std::vector<std::pair<std::string, std::string>> describe(const Recipe& recipe);

/// describe() as lines "key = value".
std::string describe_text(const Recipe& recipe);

/// Throws BadConfig naming the keys in which a run cannot go on as the recipe says. Only the length
/// of the run, its decay, the evaluation and the intervals may differ. A key that the saved run did
/// not know counts with its default.
void require_resumable(const Recipe& recipe, const std::string& saved_description);

}  // namespace driftless::lab
