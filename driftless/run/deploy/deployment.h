// SPDX-License-Identifier: Apache-2.0
// What a model costs where it is used: a board at a time, each file on each number of threads,
// timed in turn so that a busy moment of the machine meets all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftless/reason/run.h"
#include "driftless/task/table.h"

namespace driftless::run {

/// A model file and the device that runs it.
struct Deployment {
  std::string name;  ///< "float32", "int8", "packed"
  std::filesystem::path file;
  std::string device;
};

/// A reasoner with one slot. Throws what reading the file and run::make_reasoner throw.
std::unique_ptr<reason::Reasoner> load(const Deployment& deployment, int64_t threads);

/// A packed model as its file says, and native where the engine runs it.
Deployment packed_deployment(const std::filesystem::path& file);

/// Writes the float model of `source` as int8 (weights per channel, activations per token) in the
/// layers that the packed model quantizes. Throws BadFile where the two have different
/// configurations, and what reading, packing and writing throw.
void write_int8(const std::filesystem::path& source, const std::filesystem::path& packed,
                const std::filesystem::path& out);

/// The float checkpoint that a packed model was made from, by its hash, among the files beside it;
/// "" where it is not there.
std::filesystem::path find_source(const std::filesystem::path& packed);

/// A deployment at work.
struct Contestant {
  std::string name;
  int64_t threads;
  std::unique_ptr<reason::Reasoner> reasoner;
};

/// How one of them did, by board.
struct DeploymentRow {
  std::string name;
  int64_t threads;
  std::vector<double> board_ms{};
  std::vector<double> step_ms{};       ///< all steps of all boards; a board's first with its set-up
  std::vector<double> mean_step_ms{};  ///< of each board
  std::vector<reason::Answer> answers{};
  task::Score score{};
};

struct RaceOptions {
  const reason::HaltingPolicy& halting;
  int64_t max_steps;
  uint64_t seed = 0;  ///< of EqR's states and noise; board i takes seed + i
  /// Hears how many boards are done. What it throws ends the race.
  std::function<void(int64_t done)> watch{};
};

/// Every board through every contestant, in turn; before that a step of the first board for each,
/// which is not counted. Throws Internal where contestants of one name answer differently, and what
/// reason::run throws.
std::vector<DeploymentRow> race_deployments(std::span<const Contestant> contestants,
                                            const task::Task& task,
                                            std::span<const task::Example> examples,
                                            const RaceOptions& options);

/// The value that a share of the others do not exceed, by nearest rank: 0.5 is the median. There
/// must be values.
double quantile(std::vector<double> values, double share);

/// How many times faster a step is than one of `base`: the median over the boards.
double speedup(const DeploymentRow& row, const DeploymentRow& base);

}  // namespace driftless::run
