// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/calibration.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/reason/boards.h"

namespace driftless::run {
namespace {

std::string text_of(std::span<const uint8_t> tokens) { return {tokens.begin(), tokens.end()}; }

std::string described(int64_t count, const std::string& file, int64_t seed) {
  return std::to_string(count) +
         (file.empty() || file == kGenerated ? " generated boards" : " boards of " + file) +
         ", seed " + std::to_string(seed);
}

}  // namespace

CalibrationBoards::CalibrationBoards(const CalibrationOptions& options, Source source)
    : options_(options), source_(std::move(source)) {
  for (const task::Example& example : source_.scored) scored_.insert(text_of(example.input));
}

void CalibrationBoards::require_source() const {
  DRIFTLESS_REQUIRE(!options_.data.empty() || source_.task.generator != nullptr,
                    ErrorCode::InvalidArgument,
                    "static scales and smoothing need calibration boards, and there is no "
                    "generator for ",
                    source_.task.name, "; expected --calibration-data FILE");
}

int64_t CalibrationBoards::usual_count() const {
  require_source();
  return options_.data.empty() ? kCalibrationBoards
                               : std::min(kCalibrationBoards, std::ssize(source_.file));
}

bool CalibrationBoards::is_scored(std::span<const uint8_t> tokens) const {
  return scored_.contains(text_of(tokens));
}

std::vector<task::Example> CalibrationBoards::generate(int64_t count, uint64_t seed) const {
  constexpr int64_t kTriesPerBoard = 100;
  Rng rng(seed);
  std::vector<task::Example> boards;
  for (int64_t tries = 0; std::ssize(boards) < count; ++tries) {
    DRIFTLESS_REQUIRE(tries < kTriesPerBoard * count, ErrorCode::InvalidArgument,
                      "calibration boards; got ", boards.size(), " that are not scored, expected ",
                      count, "; use --calibration-data FILE");
    task::Example board = task::generate(source_.task, {.cells = source_.cells}, rng);
    if (!is_scored(board.input)) boards.push_back(std::move(board));
  }
  return boards;
}

std::vector<reason::Board> CalibrationBoards::draw(int64_t count, uint64_t seed) {
  require_source();
  if (options_.data.empty()) {
    generated_.push_back(generate(count, seed));
    return reason::boards_of(generated_.back(), source_.noise_seed);
  }
  std::vector<reason::Board> boards =
      reason::draw_boards(reason::boards_of(source_.file, source_.noise_seed), count, seed);
  const int64_t overlap =
      std::count_if(boards.begin(), boards.end(),
                    [&](const reason::Board& board) { return is_scored(board.tokens); });
  DRIFTLESS_REQUIRE(overlap == 0 || options_.may_overlap, ErrorCode::InvalidArgument,
                    "--calibration-data; got ", overlap, " of ", count, " boards of ",
                    options_.data,
                    " that are scored too, expected none; name other boards, or allow it with "
                    "--calibration-may-overlap");
  return boards;
}

std::string CalibrationBoards::describe(int64_t count, uint64_t seed) const {
  return described(count, options_.data, static_cast<int64_t>(seed));
}

void calibrate(const store::Checkpoint& checkpoint, const BackendOptions& backend,
               const CalibrationOptions& options, std::span<const reason::Board> boards,
               std::span<quant::QuantPlan> plans) {
  BackendOptions each = simulating(backend);
  int64_t threads = 1;
  if (find_device(each.device).calibrates_by_thread) {
    threads = each.threads;
    each.threads = each.slots = 1;
  }
  const auto make = [&](const quant::QuantPlan* transforms) {
    return make_reasoner(checkpoint, transforms ? *transforms : quant::QuantPlan{}, each);
  };
  reason::calibrate(make, boards, plans, threads,
                    options.watch ? options.watch(std::ssize(boards)) : reason::OnBoard());
}

std::string calibration_notes(std::span<const study::Json> records) {
  std::vector<std::string> notes;
  for (const study::Json& record : records) {
    const study::Json& calibration = record.at("config").at("calibration");
    if (calibration.is_null()) continue;
    std::string note =
        "static scales: " +
        described(calibration.at("boards"), calibration.at("file"), calibration.at("seed")) + "\n";
    if (std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(std::move(note));
  }
  std::string text;
  for (const std::string& note : notes) text += note;
  return text;
}

}  // namespace driftless::run
