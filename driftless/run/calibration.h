// SPDX-License-Identifier: Apache-2.0
// Static scales and smoothing, by one rule for every caller: the boards are those of a file, or,
// where none is named, of the task's generator; never boards that are scored, unless that is
// allowed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "driftless/reason/plan/calibrate.h"
#include "driftless/run/backend.h"
#include "driftless/study/record/fields.h"
#include "driftless/task/table.h"

namespace driftless::run {

struct CalibrationOptions {
  std::string data{};  ///< "": the task's generator makes the boards
  int64_t boards = 0;  ///< 0: kCalibrationBoards, or all of the file if it has fewer
  std::optional<int64_t>
      seed{};                ///< absent: a row's own, study::kCalibrationSeed unless it says so
  bool may_overlap = false;  ///< whether boards that are scored may be drawn
  /// Called where a calibration starts, with the number of its boards; who it returns is told how
  /// far that is, and lives as long.
  std::function<reason::OnBoard(int64_t boards)> watch{};
};

inline constexpr int64_t kCalibrationBoards = 200;
/// What records call the file of generated boards.
inline constexpr const char* kGenerated = "generated";

class CalibrationBoards {
 public:
  struct Source {
    const task::Task& task;
    int64_t cells;                    ///< of a board
    std::vector<task::Example> file;  ///< the boards of options.data; none where it names none
    std::span<const task::Example> scored;  ///< of interest to the constructor only
    uint64_t noise_seed = 0;                ///< of random states and noise, see reason::Board
  };
  CalibrationBoards(const CalibrationOptions& options, Source source);

  /// How many boards are drawn where nothing says so. Throws InvalidArgument where there is neither
  /// a file nor a generator.
  [[nodiscard]] int64_t usual_count() const;

  /// Boards of the file, drawn without repetition, or of the generator, by the seed. They look at
  /// memory of this object. Throws InvalidArgument where a board is scored too and may not be, as
  /// usual_count does, and as reason::draw_boards does.
  std::vector<reason::Board> draw(int64_t count, uint64_t seed);

  /// "200 boards of FILE, seed 1".
  [[nodiscard]] std::string describe(int64_t count, uint64_t seed) const;

 private:
  void require_source() const;
  [[nodiscard]] std::vector<task::Example> generate(int64_t count, uint64_t seed) const;
  [[nodiscard]] bool is_scored(std::span<const uint8_t> tokens) const;

  CalibrationOptions options_;
  Source source_;
  std::set<std::string, std::less<>> scored_;
  std::deque<std::vector<task::Example>> generated_;
};

/// reason::calibrate of the float model on the device's simulator.
void calibrate(const store::Checkpoint& checkpoint, const BackendOptions& backend,
               const CalibrationOptions& options, std::span<const reason::Board> boards,
               std::span<quant::QuantPlan> plans);

/// What records say of the boards behind static scales, one line for each draw; "" for none.
std::string calibration_notes(std::span<const study::Json> records);

}  // namespace driftless::run
