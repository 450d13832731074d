// SPDX-License-Identifier: Apache-2.0
// Boards, scores and ladders through the C interface.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/api/driftless_boards.h"

#include "tests/api/last_error.h"

namespace driftless {
namespace {

using testing::last_error_has;

constexpr const char* kData = "models/demo-sudoku.csv";

class Boards {
 public:
  explicit Boards(int64_t limit = 0) {
    EXPECT_EQ(driftless_read_boards(nullptr, nullptr, kData, nullptr, limit, &boards_),
              DRIFTLESS_OK)
        << driftless_last_error();
    inputs.resize(static_cast<size_t>(driftless_board_count(boards_) * 81));
    labels = inputs;
    EXPECT_EQ(driftless_copy_boards(boards_, inputs.data(), labels.data(), nullptr), DRIFTLESS_OK);
  }
  ~Boards() { driftless_free_boards(boards_); }
  Boards(const Boards&) = delete;
  Boards& operator=(const Boards&) = delete;
  [[nodiscard]] driftless_boards* get() const { return boards_; }

  std::vector<uint8_t> inputs, labels;

 private:
  driftless_boards* boards_ = nullptr;
};

TEST(CBoards, AreReadAndJudged) {
  const Boards boards(3);
  EXPECT_EQ(driftless_board_count(boards.get()), 3);
  EXPECT_EQ(driftless_board_cells(boards.get()), 81);
  EXPECT_STREQ(driftless_board_task(boards.get()), "sudoku");
  std::vector<int64_t> puzzles(3, 7);
  ASSERT_EQ(driftless_copy_boards(boards.get(), nullptr, nullptr, puzzles.data()), DRIFTLESS_OK);
  EXPECT_EQ(puzzles, std::vector<int64_t>(3, 0));
  int outcome = -1;
  const auto check = [&](const uint8_t* answer) {
    return driftless_check("sudoku", boards.inputs.data(), boards.labels.data(), answer, 81,
                           &outcome);
  };
  ASSERT_EQ(check(boards.labels.data()), DRIFTLESS_OK);
  EXPECT_EQ(outcome, DRIFTLESS_EXACT);
  ASSERT_EQ(check(boards.inputs.data()), DRIFTLESS_OK);
  EXPECT_EQ(outcome, DRIFTLESS_WRONG);
  EXPECT_EQ(check(nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_check("sudoko", nullptr, nullptr, nullptr, 0, &outcome),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("did you mean 'sudoku'"));
}

TEST(CBoards, AreTextAndBack) {
  const Boards boards(1);
  char* text = nullptr;
  ASSERT_EQ(driftless_board_text("sudoku", boards.inputs.data(), 81, &text), DRIFTLESS_OK);
  std::vector<uint8_t> tokens(81);
  ASSERT_EQ(driftless_board_tokens("sudoku", text, tokens.data()), DRIFTLESS_OK);
  EXPECT_EQ(tokens, boards.inputs);
  driftless_free_memory(text);
  ASSERT_EQ(driftless_draw_board("sudoku", boards.inputs.data(), 81, &text), DRIFTLESS_OK);
  EXPECT_NE(std::string_view(text).find("------+-------+------"), std::string_view::npos);
  driftless_free_memory(text);
  EXPECT_EQ(driftless_board_tokens("sudoku", "1x", tokens.data()),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_board_text("sudoku", nullptr, 81, &text), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_draw_board(nullptr, nullptr, 81, &text), DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

TEST(CBoards, AreGeneratedByTheirSeed) {
  ASSERT_STREQ(driftless_task(0), "sudoku");
  EXPECT_EQ(driftless_task(-1), nullptr);
  EXPECT_EQ(driftless_task(100), nullptr);
  std::vector<std::vector<uint8_t>> made;
  for (const uint64_t seed : {1u, 1u, 2u}) {
    driftless_boards* boards = nullptr;
    ASSERT_EQ(driftless_generate_boards("sudoku", 2, 0, seed, &boards), DRIFTLESS_OK)
        << driftless_last_error();
    made.emplace_back(162);
    ASSERT_EQ(driftless_copy_boards(boards, made.back().data(), nullptr, nullptr), DRIFTLESS_OK);
    driftless_free_boards(boards);
  }
  EXPECT_EQ(made[0], made[1]);
  EXPECT_NE(made[0], made[2]);
  driftless_boards* boards = nullptr;
  EXPECT_EQ(driftless_generate_boards("arc", 2, 0, 1, &boards), DRIFTLESS_ERROR_UNSUPPORTED);
  EXPECT_EQ(driftless_generate_boards("sudoku", 0, 0, 1, &boards),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_generate_boards("sudoku", 1, 80, 1, &boards),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(boards, nullptr);
}

TEST(CBoards, AreMadeFromTokens) {
  const Boards read(2);
  const int64_t puzzles[2] = {4, 5};
  driftless_boards* boards = nullptr;
  ASSERT_EQ(driftless_make_boards("sudoku", read.inputs.data(), read.labels.data(), puzzles, 2, 81,
                                  &boards),
            DRIFTLESS_OK);
  std::vector<uint8_t> inputs(162), labels(162);
  int64_t copied[2] = {};
  ASSERT_EQ(driftless_copy_boards(boards, inputs.data(), labels.data(), copied), DRIFTLESS_OK);
  EXPECT_EQ(inputs, read.inputs);
  EXPECT_EQ(labels, read.labels);
  EXPECT_EQ(copied[1], 5);
  driftless_free_boards(boards);
  EXPECT_EQ(driftless_make_boards("sudoku", inputs.data(), nullptr, nullptr, 2, 81, &boards),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_make_boards("sudoku", inputs.data(), labels.data(), nullptr, 0, 81, &boards),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(boards, nullptr);
}

TEST(CBoards, SayWhatIsWrong) {
  driftless_boards* boards = nullptr;
  EXPECT_EQ(driftless_read_boards(nullptr, nullptr, "/nowhere", nullptr, 0, &boards),
            DRIFTLESS_ERROR_IO);
  EXPECT_EQ(driftless_read_boards(nullptr, "maze", kData, nullptr, 0, &boards),
            DRIFTLESS_ERROR_BAD_FILE);
  EXPECT_EQ(driftless_read_boards(nullptr, nullptr, kData, nullptr, -1, &boards),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_read_boards(nullptr, nullptr, nullptr, nullptr, 0, &boards),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_copy_boards(nullptr, nullptr, nullptr, nullptr),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_board_count(nullptr), 0);
  EXPECT_EQ(driftless_board_cells(nullptr), 0);
  EXPECT_STREQ(driftless_board_task(nullptr), "");
  driftless_free_boards(nullptr);
}

TEST(CBoards, RefuseMoreThanThereCanBe) {
  const uint8_t token = 1;
  driftless_boards* boards = nullptr;
  for (const size_t count : {SIZE_MAX, SIZE_MAX / 81, SIZE_MAX / 81 + 2}) {
    EXPECT_EQ(driftless_make_boards("sudoku", &token, &token, nullptr, count, 81, &boards),
              DRIFTLESS_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(last_error_has("more than memory can hold"));
  }
  EXPECT_EQ(boards, nullptr);
  int outcome = 0;
  EXPECT_EQ(driftless_check("sudoku", &token, &token, &token, SIZE_MAX, &outcome),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  char* text = nullptr;
  EXPECT_EQ(driftless_board_text("sudoku", &token, SIZE_MAX, &text),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_draw_board("sudoku", &token, SIZE_MAX, &text),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(text, nullptr);
}

int count_calls(void* user, int64_t done, int64_t total) {
  EXPECT_LE(done, total);
  return ++*static_cast<int*>(user) < 0 ? 1 : 0;
}
int stop(void*, int64_t, int64_t) { return 5; }

TEST(CBoards, AreScoredWithIntervals) {
  const Boards boards(4);
  driftless_engine* engine = nullptr;
  ASSERT_EQ(driftless_load(DRIFTLESS_MODEL, 1, &engine), DRIFTLESS_OK);
  int calls = 0;
  driftless_evaluate_options options = {};
  options.max_steps = 2;
  options.on_progress = count_calls;
  options.user = &calls;
  char* text = nullptr;
  ASSERT_EQ(driftless_evaluate(engine, boards.get(), &options, &text), DRIFTLESS_OK)
      << driftless_last_error();
  EXPECT_GE(calls, 8) << "after each step of each board";
  const auto record = nlohmann::json::parse(text);
  driftless_free_memory(text);
  EXPECT_EQ(record.at("exact").at("n"), 4);
  EXPECT_LE(record.at("exact").at("low"), record.at("exact").at("share"));
  EXPECT_EQ(record.at("mean_steps"), 2);
  options.on_progress = stop;
  EXPECT_EQ(driftless_evaluate(engine, boards.get(), &options, &text),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("on_progress"));
  options = {};
  options.halting = "halted";
  EXPECT_EQ(driftless_evaluate(engine, boards.get(), &options, &text),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  driftless_boards* mazes = nullptr;
  ASSERT_EQ(driftless_generate_boards("maze", 1, 0, 1, &mazes), DRIFTLESS_OK)
      << driftless_last_error();
  EXPECT_EQ(driftless_evaluate(engine, mazes, nullptr, &text), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("another task"));
  EXPECT_EQ(driftless_evaluate(nullptr, mazes, nullptr, &text), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  driftless_free_boards(mazes);
  driftless_free(engine);
}

TEST(CBoards, ClimbALadder) {
  const char* const schemes[] = {"none", "mxint4"};
  driftless_ladder_options options = {};
  options.size = sizeof(options);
  options.schemes = schemes;
  options.scheme_count = 2;
  options.steps = 1;
  options.limit = 1;
  options.threads = 1;
  char* text = nullptr;
  ASSERT_EQ(driftless_ladder(DRIFTLESS_MODEL, kData, &options, &text), DRIFTLESS_OK)
      << driftless_last_error();
  const auto records = nlohmann::json::parse(text);
  driftless_free_memory(text);
  EXPECT_EQ(records.size(), 2u);
  for (const auto& record : records) EXPECT_EQ(record.at("n"), 1);
  options.on_progress = stop;
  EXPECT_EQ(driftless_ladder(DRIFTLESS_MODEL, kData, &options, &text),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  options.on_progress = nullptr;
  options.limit = -1;
  EXPECT_EQ(driftless_ladder(DRIFTLESS_MODEL, kData, &options, &text),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_ladder(DRIFTLESS_MODEL, nullptr, nullptr, &text),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace driftless
