// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/score/votes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "driftless/task/arc/augment.h"

namespace driftless::run {
namespace {

namespace arc = task::arc;

constexpr std::array<int64_t, 6> kPassRates = {1, 2, 5, 10, 100, 1000};

/// The largest number of boards that one test input has.
int64_t most_votes(std::span<const arc::Puzzle> puzzles, std::span<const task::Example> examples) {
  std::map<std::string, int64_t> boards;
  for (const task::Example& example : examples)
    ++boards[arc::parse_variant_name(example.name).puzzle];
  int64_t most = 0;
  for (const arc::Puzzle& puzzle : puzzles)
    if (!puzzle.test.empty()) most = std::max(most, boards[puzzle.name] / std::ssize(puzzle.test));
  return most;
}

}  // namespace

arc::Ballot count_votes(std::span<const task::Example> examples,
                        std::span<const reason::Answer> answers) {
  arc::Ballot ballot;
  for (size_t i = 0; i < examples.size(); ++i)
    ballot.add(examples[i].name, examples[i].input, answers[i].tokens,
               static_cast<double>(answers[i].halt_logit));
  return ballot;
}

ArcScore score_arc(std::span<const arc::Puzzle> puzzles, std::span<const task::Example> examples,
                   std::span<const reason::Answer> answers, const arc::Ballot& ballot) {
  std::vector<int64_t> ks;
  const int64_t most = most_votes(puzzles, examples);
  for (const int64_t k : kPassRates)
    if (k <= std::max<int64_t>(2, most)) ks.push_back(k);
  ArcScore score{.pass = ballot.score(puzzles, ks), .exact = {}, .cells = {}};

  struct Sums {
    task::Share exact, cells;
  };
  std::map<std::string, Sums> tasks;
  for (size_t i = 0; i < examples.size(); ++i) {
    const task::Share cells = task::matching_cells(examples[i].label, answers[i].tokens);
    if (cells.n == 0) continue;
    Sums& sums = tasks[arc::parse_variant_name(examples[i].name).puzzle];
    sums.exact.add(cells.hits == cells.n ? 1 : 0, 1);
    sums.cells.add(cells.hits, cells.n);
  }
  for (const auto& [name, sums] : tasks) {
    score.exact.add(sums.exact.value());
    score.cells.add(sums.cells.value());
  }
  return score;
}

}  // namespace driftless::run
