// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/calibration.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

std::vector<task::Example> sudokus(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<task::Example> boards;
  for (int64_t i = 0; i < count; ++i)
    boards.push_back(task::generate(task::find_task("sudoku"), {.cells = 81}, rng));
  return boards;
}

CalibrationBoards::Source source_of(std::span<const task::Example> scored,
                                    std::vector<task::Example> file = {}) {
  return {
      .task = task::find_task("sudoku"), .cells = 81, .file = std::move(file), .scored = scored};
}

bool has(std::span<const reason::Board> boards, const task::Example& example) {
  return std::any_of(boards.begin(), boards.end(), [&](const reason::Board& board) {
    return std::equal(board.tokens.begin(), board.tokens.end(), example.input.begin(),
                      example.input.end());
  });
}

TEST(CalibrationBoards, GeneratedOnesAreThoseOfTheSeedLessWhatIsScored) {
  const std::vector<task::Example> scored = sudokus(1, 5);  // what seed 5 makes first
  CalibrationBoards other({}, source_of({}));
  CalibrationBoards boards({}, source_of(scored));
  const auto all = other.draw(3, 5);
  const auto drawn = boards.draw(2, 5);
  EXPECT_TRUE(has(all, scored[0]));
  EXPECT_FALSE(has(drawn, scored[0]));
  for (size_t i = 0; i < drawn.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(drawn[i].tokens, all[i + 1].tokens)) << i;
  EXPECT_EQ(boards.usual_count(), kCalibrationBoards);
  EXPECT_EQ(boards.describe(2, 5), "2 generated boards, seed 5");
}

TEST(CalibrationBoards, OfAFileAreNeverScoredUnlessThatIsAllowed) {
  const std::vector<task::Example> file = sudokus(3, 1);
  CalibrationOptions options{.data = "boards.csv"};
  CalibrationBoards strict(options, source_of(std::span(file).first(1), file));
  EXPECT_EQ(strict.usual_count(), 3) << "all of a small file";
  EXPECT_ERROR(strict.draw(3, 1), ErrorCode::InvalidArgument, "1 of 3 boards of boards.csv");
  options.may_overlap = true;
  CalibrationBoards lax(options, source_of(std::span(file).first(1), file));
  EXPECT_TRUE(has(lax.draw(3, 1), file[0]));
  EXPECT_EQ(lax.describe(3, 1), "3 boards of boards.csv, seed 1");
}

TEST(CalibrationBoards, NeedAFileWhereTheTaskHasNoGenerator) {
  CalibrationBoards boards(
      {}, {.task = task::find_task("arc"), .cells = 900, .file = {}, .scored = {}});
  EXPECT_ERROR((void)boards.usual_count(), ErrorCode::InvalidArgument, "no generator for arc");
  EXPECT_ERROR(boards.draw(1, 1), ErrorCode::InvalidArgument, "--calibration-data FILE");
}

TEST(CalibrationNotes, SayEachDrawOnce) {
  const auto record = [](const study::Json& calibration) {
    return study::Json{{"config", {{"calibration", calibration}}}};
  };
  const study::Json file = {{"boards", 8}, {"file", "a.csv"}, {"seed", 2}};
  const study::Json made = {{"boards", 200}, {"file", kGenerated}, {"seed", 1}};
  const std::vector<study::Json> records = {record(file), record(nullptr), record(made),
                                            record(file)};
  EXPECT_EQ(calibration_notes(records),
            "static scales: 8 boards of a.csv, seed 2\n"
            "static scales: 200 generated boards, seed 1\n");
}

}  // namespace
}  // namespace driftless::run
