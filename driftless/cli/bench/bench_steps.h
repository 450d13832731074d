// SPDX-License-Identifier: Apache-2.0
// The part of driftless bench CHECKPOINT that times whole supervision steps on every path.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/bench/steps.h"
#include "driftless/reason/boards.h"
#include "driftless/store/checkpoint.h"

namespace driftless::cli {

/// "61.2%" of a peak, or "-" for instructions that outrun it, such as another library's wider ones:
/// they have no share of it.
std::string share_text(double share);

class StepsBench {
 public:
  struct Options {
    std::string model_name;
    int64_t batch = 8;
    int64_t threads = 1;
    int64_t rounds = 20;
  };

  /// Prints to `out` and adds to `json`; all three outlive the object.
  StepsBench(Options options, const store::Checkpoint& checkpoint, std::FILE* out,
             nlohmann::ordered_json& json)
      : options_(std::move(options)), checkpoint_(checkpoint), out_(out), json_(json) {}

  void run(std::span<const reason::Board> boards);

 private:
  struct Goal;

  [[nodiscard]] std::vector<bench::StepEntry> step_entries() const;
  [[nodiscard]] double board_flops() const;
  void report(const bench::StepRow& row, const bench::StepRace& race);
  void run_halting(std::span<const bench::StepEntry> entries,
                   std::span<const reason::Board> boards);
  void report(const Goal& goal, const bench::StepRace& race) const;
  void report_threads(const bench::StepRace& race);

  Options options_;
  const store::Checkpoint& checkpoint_;
  std::FILE* out_;
  nlohmann::ordered_json& json_;
};

}  // namespace driftless::cli
