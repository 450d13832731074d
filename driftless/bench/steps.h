// SPDX-License-Identifier: Apache-2.0
// Whole supervision steps of a model on every path through the CPU backends, timed in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftless/reason/reasoner.h"
#include "driftless/store/checkpoint.h"

namespace driftless::bench {

struct StepShape {
  int64_t batch = 1;
  int64_t threads = 1;
  bool operator==(const StepShape&) const = default;
};

using MakeReasoner = std::function<std::unique_ptr<reason::Reasoner>(const StepShape& shape)>;

/// A way to run a model.
struct Path {
  std::string name;
  MakeReasoner make;
  MakeReasoner reference = {};  ///< what gives the same answers but for rounding in float; or none
};

/// float32, bf16, simulated MXInt4, and native MXInt4 and Int8; native MXInt4 with attention in
/// int8, too, where the model has attention. They refer to the checkpoint.
std::vector<Path> step_paths(const store::Checkpoint& checkpoint);

/// The name of the path that the others are compared with.
inline constexpr const char* kBasePath = "f32";

/// float32 without anything but its matrix products.
Path bare_path(const store::Checkpoint& checkpoint);

struct StepRow {
  std::string path;
  StepShape shape;
  std::vector<double> gflops{};  ///< of each round
  double joules = 0;             ///< of all rounds; 0 where energy is not exposed

  [[nodiscard]] double median_gflops() const;
  [[nodiscard]] double best_gflops() const;
  [[nodiscard]] double boards_per_s(double flops_of_board) const {
    return median_gflops() * 1e9 / flops_of_board;
  }
};

/// Median over the rounds of one row's rate over the other's.
double median_ratio(const StepRow& row, const StepRow& base);

struct StepEntry {
  Path path;
  StepShape shape;
};

struct StepRace {
  std::vector<StepRow> rows;
  double int8_peak_gflops_1 = 0;  ///< best in the same rounds, one thread
  double int8_peak_gflops_n = 0;  ///< the same on all threads of the entries
  bool has_energy = false;

  /// What bounds native steps of that shape.
  [[nodiscard]] double int8_peak_gflops(const StepShape& shape) const {
    return shape.threads == 1 ? int8_peak_gflops_1 : int8_peak_gflops_n;
  }
};

/// Times `rounds` steps of each entry on `boards`, in turn with the int8 peak. Throws Internal when
/// a path answers a board differently in different shapes or than its reference, or a native one is
/// faster than the peak, and what making a reasoner throws.
StepRace race_steps(std::span<const StepEntry> entries, const store::Checkpoint& checkpoint,
                    std::span<const reason::Board> boards, int64_t rounds);

/// Boards per second of a path that stops as the model wants to, and the steps it took on average.
struct HaltingRate {
  double boards_per_s = 0;
  double mean_steps = 0;
};
HaltingRate halting_rate(const Path& path, const StepShape& shape,
                         std::span<const reason::Board> boards);

}  // namespace driftless::bench
