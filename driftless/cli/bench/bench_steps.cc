// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/bench/bench_steps.h"

#include <algorithm>
#include <array>

#include "driftless/cli/terminal/progress.h"
#include "driftless/model/shapes.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::cli {
namespace {

using bench::StepRow;
using bench::StepShape;
using Json = nlohmann::ordered_json;

}  // namespace

/// What one rate over another is meant to be.
struct StepsBench::Goal {
  const char* text;
  const char* path;
  bool is_single;
  const char* base;
  bool is_base_single;
  double least;
};

namespace {

const StepRow& find(const bench::StepRace& race, const std::string& path, const StepShape& shape) {
  return *std::find_if(race.rows.begin(), race.rows.end(),
                       [&](const StepRow& row) { return row.path == path && row.shape == shape; });
}

}  // namespace

std::string share_text(double share) {
  if (share > 1) return "-";
  std::array<char, 16> text{};
  (void)std::snprintf(text.data(), text.size(), "%.1f%%", 100 * share);
  return text.data();
}

std::vector<bench::StepEntry> StepsBench::step_entries() const {
  const StepShape batch{options_.batch, options_.threads};
  const StepShape single{1, options_.threads};
  std::vector<bench::StepEntry> entries = {{bench::bare_path(checkpoint_), batch}};
  for (const bench::Path& path : bench::step_paths(checkpoint_)) {
    for (const StepShape& shape : {batch, single, StepShape{1, 1}}) {
      const bool is_there =
          std::any_of(entries.begin(), entries.end(), [&](const bench::StepEntry& entry) {
            return entry.path.name == path.name && entry.shape == shape;
          });
      if (!is_there) entries.push_back({path, shape});
    }
  }
  return entries;
}

void StepsBench::run(std::span<const reason::Board> boards) {
  const std::vector<bench::StepEntry> entries = step_entries();
  const bench::StepRace race = during("timing steps", [&] {
    return bench::race_steps(entries, checkpoint_, boards, options_.rounds);
  });
  const int64_t positions = model::positions_count(checkpoint_.config);
  std::fprintf(out_, "\nsupervision steps of %s, %lld positions\n%-36s %7s %9s %9s %8s %7s %12s\n",
               options_.model_name.c_str(), static_cast<long long>(positions), "", "threads",
               "GFLOP/s", "best", "of int8", "x f32", "boards/s");
  json_["positions"] = positions;
  json_["step"] = Json::array();
  for (const StepRow& row : race.rows) report(row, race);
  run_halting(entries, boards);
  std::fprintf(out_, "\nmedians over the rounds\n");
  constexpr std::array<Goal, 3> kGoals = {
      {{"f32 steps / their matmuls alone", "f32", false, "f32 matmuls alone", false, 0.85},
       {"bf16 steps / f32 steps", "bf16", false, "f32", false, 1.7},
       {"f32 single board / f32 batch", "f32", true, "f32", false, 0.75}}};
  for (const Goal& goal : kGoals) report(goal, race);
  if (options_.threads > 1) report_threads(race);
  if (!race.has_energy) std::fprintf(out_, "%-36s not exposed by this machine\n", "energy");
  json_["energy_exposed"] = race.has_energy;
}

double StepsBench::board_flops() const {
  return static_cast<double>(simulate::step_flops(checkpoint_.config) *
                             checkpoint_.config.halt_max_steps);
}

void StepsBench::report(const StepRow& row, const bench::StepRace& race) {
  const double share = row.best_gflops() / race.int8_peak_gflops(row.shape);
  const double ratio = median_ratio(row, find(race, bench::kBasePath, row.shape));
  const bool is_bare = row.path == race.rows.front().path;
  const std::string name =
      row.path + (is_bare ? "" : " steps") + ", batch " + std::to_string(row.shape.batch);
  const double boards = is_bare ? 0 : row.boards_per_s(board_flops());
  std::fprintf(out_, "%-36s %7lld %9.1f %9.1f %8s %7.2f %12.3f\n", name.c_str(),
               static_cast<long long>(row.shape.threads), row.median_gflops(), row.best_gflops(),
               share_text(share).c_str(), ratio, boards);
  Json entry = {{"path", row.path},
                {"d", checkpoint_.config.hidden_size},
                {"batch", row.shape.batch},
                {"threads", row.shape.threads},
                {"gflops", row.best_gflops()},
                {"median_gflops", row.median_gflops()},
                {"share_of_int8_peak", share},
                {"ratio_to_f32", ratio},
                {"joules_per_step", nullptr}};
  if (race.has_energy)
    entry["joules_per_step"] =
        row.joules / static_cast<double>(std::ssize(row.gflops) * row.shape.batch);
  if (!is_bare) entry["boards_per_s_fixed"] = boards;
  json_["step"].push_back(std::move(entry));
}

/// Adds the rate with adaptive halting to the batch rows of each path.
void StepsBench::run_halting(std::span<const bench::StepEntry> entries,
                             std::span<const reason::Board> boards) {
  const StepShape shape{options_.batch, options_.threads};
  std::fprintf(out_, "\nwith adaptive halting, %zu boards, batch %lld\n", boards.size(),
               static_cast<long long>(options_.batch));
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].shape != shape) continue;
    const bench::HaltingRate rate =
        during("timing boards", [&] { return halting_rate(entries[i].path, shape, boards); });
    std::fprintf(out_, "%-36s %9.3f boards/s, %.2f steps each\n", entries[i].path.name.c_str(),
                 rate.boards_per_s, rate.mean_steps);
    json_["step"][i]["boards_per_s_halting"] = rate.boards_per_s;
    json_["step"][i]["mean_steps_halting"] = rate.mean_steps;
  }
}

void StepsBench::report(const Goal& goal, const bench::StepRace& race) const {
  const auto shape = [&](bool is_single) {
    return StepShape{is_single ? 1 : options_.batch, options_.threads};
  };
  const double ratio = median_ratio(find(race, goal.path, shape(goal.is_single)),
                                    find(race, goal.base, shape(goal.is_base_single)));
  std::fprintf(out_, "%-36s %6.3f      (goal at least %.2f: %s)\n", goal.text, ratio, goal.least,
               ratio >= goal.least ? "reached" : "missed");
}

/// What more threads give a single board.
void StepsBench::report_threads(const bench::StepRace& race) {
  for (const StepRow& row : race.rows) {
    if (row.shape != StepShape{1, 1}) continue;
    const double ratio = median_ratio(find(race, row.path, {1, options_.threads}), row);
    const std::string text =
        row.path + ", " + std::to_string(options_.threads) + " threads / 1 thread";
    std::fprintf(out_, "%-36s %6.3f      (single board)\n", text.c_str(), ratio);
    json_["threads_ratio"].push_back({{"path", row.path}, {"ratio", ratio}});
  }
}

}  // namespace driftless::cli
