// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/data/data_augment.h"

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/run/boards.h"
#include "driftless/store/dataset/dataset.h"
#include "driftless/task/arc/augment.h"
#include "driftless/task/arc/json.h"
#include "driftless/task/arc/training.h"
#include "driftless/task/table.h"

namespace driftless::cli {
namespace {

namespace arc = task::arc;

struct AugmentOptions {
  std::vector<std::string> asked;
  std::vector<std::string> others;
  arc::TrainingOptions training;
  uint64_t seed = 0;
  std::string output;
};

/// Of another task nothing belongs to a row of a puzzle table.
void require_arc(const std::string& path) {
  const task::Task& task = run::guess_task({.path = path});
  DRIFTLESS_REQUIRE(task.is_arc(), ErrorCode::Unsupported, "data augment: task ", task.name,
                    " has no puzzles with variants; got ", path, ", expected ARC tasks");
}

std::vector<arc::Puzzle> read_all(const std::vector<std::string>& paths) {
  std::vector<arc::Puzzle> puzzles;
  for (const std::string& path : paths) {
    require_arc(path);
    std::vector<arc::Puzzle> more = arc::read_puzzles(path);
    puzzles.insert(puzzles.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
  }
  return puzzles;
}

/// A group is a task, a puzzle one of its variants.
store::PuzzleDataset dataset_of(const std::vector<task::Example>& rows, const arc::TrainingSet& set,
                                int64_t side) {
  store::PuzzleDataset made;
  made.ignore_label_id = 0;
  made.vocab_size = task::find_task("arc").vocab_size();
  made.seq_len = side * side;
  made.num_puzzle_identifiers = std::ssize(set.names);
  made.identifiers = set.names;
  std::string task;
  for (const task::Example& row : rows) {
    const std::string task_of_row = arc::parse_variant_name(row.name).puzzle;
    if (made.puzzle_identifiers.empty() || made.puzzle_identifiers.back() != row.puzzle) {
      if (made.puzzle_identifiers.empty() || task_of_row != task)
        made.group_indices.push_back(std::ssize(made.puzzle_identifiers));
      made.puzzle_indices.push_back(std::ssize(made.inputs) / made.seq_len);
      made.puzzle_identifiers.push_back(row.puzzle);
      task = task_of_row;
    }
    made.inputs.insert(made.inputs.end(), row.input.begin(), row.input.end());
    made.labels.insert(made.labels.end(), row.label.begin(), row.label.end());
  }
  made.puzzle_indices.push_back(std::ssize(rows));
  made.group_indices.push_back(std::ssize(made.puzzle_identifiers));
  return made;
}

void augment(const AugmentOptions& options) {
  const std::vector<arc::Puzzle> asked = read_all(options.asked);
  Rng rng(options.seed);
  const arc::TrainingSet set =
      arc::training_set(asked, read_all(options.others), options.training, rng);
  const std::filesystem::path folder = options.output;
  const int64_t side = options.training.side;
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(folder, ignored);
  try {
    store::write_dataset(folder, "train", dataset_of(set.train, set, side));
    store::write_dataset(folder, "test", dataset_of(set.test, set, side));
    write_file_atomic(folder / "test_puzzles.json", arc::to_json(asked));
  } catch (...) {
    if (is_new) std::filesystem::remove_all(folder, ignored);
    throw;
  }
  std::printf("%s: %zu puzzles, %zu boards to train on, %zu to ask, seed %llu\n",
              options.output.c_str(), set.names.size() - 1, set.train.size(), set.test.size(),
              static_cast<unsigned long long>(options.seed));
}

}  // namespace

void add_augment(const Verb& verb) {
  auto options = std::make_shared<AugmentOptions>();
  verb.add_input("TASKS", options->asked, "ARC files whose test inputs are asked").required();
  verb.add_input("--train-on", options->others,
                 "ARC files to train on with their test pairs as well");
  verb.add_option("--variants", options->training.variants,
                  "of each task beside the task itself; symmetric tasks have fewer")
      .between(0, kNoLimit)
      .shows_default();
  verb.add_option("--side", options->training.side, "cells of a side of the canvas")
      .between(1, arc::kMaxSide)
      .shows_default();
  verb.add_option("--seed", options->seed, "seed of variants and places").required();
  const Flag out = verb.add_option("--out", options->output, "folder to write").required();
  verb.accepts_old("--output", out);
  verb.also_uses({"--out", FileRole::Part, [options] {
                    const std::filesystem::path folder = options->output;
                    return std::vector{folder / "identifiers.json", folder / "test_puzzles.json",
                                       folder / "train" / "dataset.json",
                                       folder / "test" / "dataset.json"};
                  }});
  verb.example(
      "driftless data augment mini_arc.json --side 5 --variants 63 --seed 1 "
      "--out mini-arc");
  verb.runs([options] { augment(*options); });
}

}  // namespace driftless::cli
