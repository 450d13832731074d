// SPDX-License-Identifier: Apache-2.0
// From predictions on many variants of a task to one ranked list of answers per test input, its
// pass@K and the submission file.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driftless/task/arc/grid.h"
#include "driftless/task/score.h"

namespace driftless::task::arc {

/// One answer and how the variants voted for it.
struct Candidate {
  Grid grid;
  int64_t votes = 0;
  double mean_halt = 0;  ///< mean halt probability of its votes
};

/// How well the first K candidates do.
struct PassRate {
  int64_t k = 0;
  /// Mean over puzzles of the share of their test inputs that are hit: the published figure.
  double puzzle_mean = 0;
  Share inputs;   ///< test inputs hit
  Share puzzles;  ///< puzzles with every test input hit

  /// Of puzzle_mean, over puzzles.
  [[nodiscard]] Interval interval() const { return wilson_interval(puzzle_mean, puzzles.n); }
};

/// Collects votes over any number of variants, rollouts and checkpoints.
class Ballot {
 public:
  /// One row of a model's output: the name says which variant it saw, input and prediction are
  /// canvases with the grid top left. Both are cropped and mapped back; the halt probability is the
  /// logistic function of the logit. Throws InvalidArgument on a malformed name or canvas and
  /// Numeric when the logit is not a number.
  void add(std::string_view name, std::span<const uint8_t> input,
           std::span<const uint8_t> prediction, double halt_logit);

  /// Most votes first; the mean halt probability breaks ties, then the order of the grids. Empty
  /// when nobody voted.
  [[nodiscard]] std::vector<Candidate> rank(const std::string& task, const Grid& input) const;

  /// One row per K over the test inputs with a known output. An input without votes is a miss.
  [[nodiscard]] std::vector<PassRate> score(std::span<const Puzzle> puzzles,
                                            std::span<const int64_t> ks) const;

  /// submission.json: {task: [{"attempt_1": grid, "attempt_2": grid}, ...]}, one entry per test
  /// input. A missing second attempt repeats the first; a missing first is [[0]]. An
  /// empty answer is [].
  [[nodiscard]] std::string submission(std::span<const Puzzle> puzzles) const;

 private:
  struct Votes {
    int64_t votes = 0;
    double halt_sum = 0;
  };
  /// By task and test input, then by predicted grid.
  std::map<std::pair<std::string, Grid>, std::map<Grid, Votes>> boxes_;
};

}  // namespace driftless::task::arc
