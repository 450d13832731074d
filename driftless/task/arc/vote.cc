// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/vote.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/task/arc/augment.h"
#include "driftless/task/arc/json.h"

namespace driftless::task::arc {
namespace {

bool is_hit(std::span<const Candidate> ranked, const Grid& output, int64_t k) {
  const auto first = ranked.first(std::min(ranked.size(), static_cast<size_t>(k)));
  return std::any_of(first.begin(), first.end(),
                     [&](const Candidate& candidate) { return candidate.grid == output; });
}

}  // namespace

void Ballot::add(std::string_view name, std::span<const uint8_t> input,
                 std::span<const uint8_t> prediction, double halt_logit) {
  DRIFTLESS_REQUIRE(!std::isnan(halt_logit), ErrorCode::Numeric, "arc: halt logit of ", name,
                    " is not a number");
  const NamedVariant source = parse_variant_name(name);
  const Grid question = undo(source.variant, crop(input));
  Votes& tally = boxes_[{source.puzzle, question}][undo(source.variant, crop(prediction))];
  ++tally.votes;
  tally.halt_sum += 1 / (1 + std::exp(-halt_logit));
}

std::vector<Candidate> Ballot::rank(const std::string& task, const Grid& input) const {
  std::vector<Candidate> ranked;
  const auto box = boxes_.find({task, input});
  if (box == boxes_.end()) return ranked;
  for (const auto& [grid, tally] : box->second)
    ranked.push_back({.grid = grid,
                      .votes = tally.votes,
                      .mean_halt = tally.halt_sum / static_cast<double>(tally.votes)});
  std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.votes, a.mean_halt) > std::pair(b.votes, b.mean_halt);
  });
  return ranked;
}

std::vector<PassRate> Ballot::score(std::span<const Puzzle> puzzles,
                                    std::span<const int64_t> ks) const {
  std::vector<PassRate> rates;
  for (const int64_t k : ks) {
    DRIFTLESS_REQUIRE(k >= 1, ErrorCode::InvalidArgument, "arc: bad K of pass@K; got ", k,
                      ", expected 1 or more");
    rates.push_back({.k = k, .puzzle_mean = 0, .inputs = {}, .puzzles = {}});
  }
  for (const Puzzle& puzzle : puzzles) {
    std::vector<Share> hits(rates.size());
    for (const Pair& pair : puzzle.test) {
      if (!pair.output) continue;
      const std::vector<Candidate> ranked = rank(puzzle.name, pair.input);
      for (size_t i = 0; i < rates.size(); ++i)
        hits[i].add(is_hit(ranked, *pair.output, rates[i].k) ? 1 : 0, 1);
    }
    for (size_t i = 0; i < rates.size(); ++i) {
      if (hits[i].n == 0) continue;
      rates[i].inputs.add(hits[i].hits, hits[i].n);
      rates[i].puzzles.add(hits[i].hits == hits[i].n ? 1 : 0, 1);
      rates[i].puzzle_mean += hits[i].value();
    }
  }
  for (PassRate& rate : rates)
    if (rate.puzzles.n > 0) rate.puzzle_mean /= static_cast<double>(rate.puzzles.n);
  return rates;
}

std::string Ballot::submission(std::span<const Puzzle> puzzles) const {
  nlohmann::json root = nlohmann::json::object();
  for (const Puzzle& puzzle : puzzles) {
    nlohmann::json& entries = root[puzzle.name] = nlohmann::json::array();
    for (const Pair& pair : puzzle.test) {
      std::vector<Candidate> ranked = rank(puzzle.name, pair.input);
      if (ranked.empty()) ranked.push_back({.grid = {.extent = {1, 1}, .cells = {0}}});
      const Candidate& second = ranked[ranked.size() > 1 ? 1 : 0];
      entries.push_back(
          {{"attempt_1", grid_to_json(ranked[0].grid)}, {"attempt_2", grid_to_json(second.grid)}});
    }
  }
  return root.dump();
}

}  // namespace driftless::task::arc
