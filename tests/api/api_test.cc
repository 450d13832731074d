// SPDX-License-Identifier: Apache-2.0
// The library's two interfaces with the bundled model, as a program that links it uses them.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/api/driftless.h"
#include "driftless/api/driftless_c.h"

namespace driftless {
namespace {

constexpr std::string_view kBoards[] = {
    "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4.",
    "23...59....49....8.1.....461...9..6...7.....98...36.17...7..65.5...13...........2"};

std::vector<uint8_t> tokens_of(std::string_view text) {
  std::vector<uint8_t> tokens;
  for (const char c : text) tokens.push_back(c == '.' ? 1 : static_cast<uint8_t>(c - '0' + 1));
  return tokens;
}

/// The kind of the error that the action throws, or 0.
template <class Action>
int thrown_by(const Action& action, const std::string& word) {
  try {
    action();
    return 0;
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos) << error.what();
    return error_code(error);
  }
}

TEST(Engine, SolvesABatchAndShowsEveryStep) {
  Engine engine = Engine::load(DRIFTLESS_MODEL, {.threads = 2, .slots = 1});
  EXPECT_EQ(engine.cells(), 81);
  EXPECT_EQ(engine.vocabulary(), 11);
  EXPECT_EQ(engine.trained_steps(), 16);
  EXPECT_FALSE(engine.instruction_set().empty());
  const std::vector<std::vector<uint8_t>> puzzles = {tokens_of(kBoards[0]), tokens_of(kBoards[1])};
  const std::vector<Board> boards = {{.tokens = puzzles[0]}, {.tokens = puzzles[1]}};
  std::vector<int64_t> steps(2);
  const auto solutions =
      engine.solve(boards, {.on_step = [&](const StepView& view) {
                     EXPECT_EQ(view.step, ++steps[static_cast<size_t>(view.board)]);
                     EXPECT_EQ(view.tokens.size(), 81u);
                   }});
  ASSERT_EQ(solutions.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(solutions[i].steps, steps[i]);
    EXPECT_LT(solutions[i].steps, 16) << "halts early";
    EXPECT_GT(solutions[i].halt_logit, 0);
    for (size_t cell = 0; cell < 81; ++cell)
      EXPECT_TRUE(puzzles[i][cell] == 1 || puzzles[i][cell] == solutions[i].tokens[cell]);
  }
  const auto fixed = engine.solve(boards, {.halting = Halting::AfterAllSteps, .max_steps = 2});
  EXPECT_EQ(fixed[0].steps, 2);
  EXPECT_EQ(fixed[1].steps, 2);
  EXPECT_TRUE(engine.solve({}).empty());
}

TEST(Engine, AnswersDoNotDependOnThreadsOrSlots) {
  const std::vector<uint8_t> puzzle = tokens_of(kBoards[0]);
  const std::vector<Board> boards(3, Board{.tokens = puzzle});
  Engine one = Engine::load(DRIFTLESS_MODEL, {.slots = 1});
  Engine many = Engine::load(DRIFTLESS_MODEL, {.threads = 3, .slots = 4});
  const auto first = one.solve(boards, {.max_steps = 1});
  const auto second = many.solve(boards, {.max_steps = 1});
  for (size_t i = 0; i < boards.size(); ++i) {
    EXPECT_EQ(first[i].tokens, second[i].tokens);
    EXPECT_EQ(first[i].halt_logit, second[i].halt_logit);
  }
}

TEST(Engine, SaysWhatIsWrong) {
  const auto load = [](const char* path, const EngineOptions& options) {
    return [=] { (void)Engine::load(path, options); };
  };
  EXPECT_EQ(thrown_by(load("/nowhere", {}), "/nowhere"), DRIFTLESS_ERROR_IO);
  EXPECT_EQ(thrown_by(load(DRIFTLESS_MODEL, {.threads = 0}), "threads"),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(thrown_by(load(DRIFTLESS_MODEL, {.weights = "mxint44"}), "mxint4"),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(thrown_by(load(DRIFTLESS_MODEL, {.weights = "mxfp4"}), "layer"),
            DRIFTLESS_ERROR_UNSUPPORTED);
  Engine engine = Engine::load(DRIFTLESS_MODEL);
  const std::vector<uint8_t> few(80, 1);
  const std::vector<uint8_t> strange(81, 11);
  for (const auto& tokens : {few, strange}) {
    const std::vector<Board> boards = {{.tokens = tokens}};
    EXPECT_EQ(thrown_by([&] { (void)engine.solve(boards); }, "expected"),
              DRIFTLESS_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(error_code(std::logic_error("not ours")), DRIFTLESS_ERROR_INTERNAL);
}

TEST(CInterface, SolvesAsTheOtherOne) {
  driftless_engine* engine = nullptr;
  ASSERT_EQ(driftless_load(DRIFTLESS_MODEL, 1, &engine), DRIFTLESS_OK) << driftless_last_error();
  EXPECT_EQ(driftless_cells(engine), 81);
  EXPECT_EQ(driftless_vocabulary(engine), 11);
  std::vector<uint8_t> tokens = tokens_of(kBoards[0]);
  const std::vector<uint8_t> second = tokens_of(kBoards[1]);
  tokens.insert(tokens.end(), second.begin(), second.end());
  std::vector<uint8_t> answers(2 * 81);
  std::vector<int64_t> steps(2);
  ASSERT_EQ(driftless_solve(engine, tokens.data(), 2, nullptr, answers.data(), steps.data()),
            DRIFTLESS_OK)
      << driftless_last_error();
  const std::vector<Board> boards = {{.tokens = {tokens.data(), 81}},
                                     {.tokens = {tokens.data() + 81, 81}}};
  const auto expected = Engine::load(DRIFTLESS_MODEL).solve(boards);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(std::equal(expected[i].tokens.begin(), expected[i].tokens.end(),
                           answers.begin() + static_cast<int64_t>(81 * i)));
    EXPECT_EQ(steps[i], expected[i].steps);
  }
  driftless_solve_options options = {};
  options.max_steps = 1;
  options.all_steps = 1;
  ASSERT_EQ(driftless_solve(engine, tokens.data(), 1, &options, answers.data(), steps.data()),
            DRIFTLESS_OK);
  EXPECT_EQ(steps[0], 1);
  driftless_free(engine);
}

TEST(CInterface, TurnsErrorsIntoCodesAndLines) {
  driftless_engine* engine = nullptr;
  EXPECT_EQ(driftless_load("/nowhere", 1, &engine), DRIFTLESS_ERROR_IO);
  EXPECT_EQ(engine, nullptr);
  EXPECT_NE(std::string_view(driftless_last_error()).find("/nowhere"), std::string_view::npos);
  EXPECT_EQ(driftless_load(nullptr, 1, &engine), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_load(DRIFTLESS_MODEL, 1, nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_cells(nullptr), 0);
  EXPECT_EQ(driftless_vocabulary(nullptr), 0);
  driftless_free(nullptr);

  ASSERT_EQ(driftless_load(DRIFTLESS_MODEL, 1, &engine), DRIFTLESS_OK);
  const std::vector<uint8_t> tokens = tokens_of(kBoards[0]);
  std::vector<uint8_t> answers(81);
  const auto solve = [&](const uint8_t* in, uint8_t* out, const driftless_solve_options* options) {
    return driftless_solve(engine, in, 1, options, out, nullptr);
  };
  EXPECT_EQ(driftless_solve(nullptr, tokens.data(), 1, nullptr, answers.data(), nullptr),
            DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(solve(nullptr, answers.data(), nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(solve(tokens.data(), nullptr, nullptr), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(driftless_solve(engine, nullptr, 0, nullptr, nullptr, nullptr), DRIFTLESS_OK);
  driftless_solve_options options = {};
  options.max_steps = -1;
  EXPECT_EQ(solve(tokens.data(), answers.data(), &options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  options.max_steps = 0;
  options.on_step = [](void* user, size_t, int64_t, const uint8_t*, float) {
    return ++*static_cast<int*>(user);
  };
  int calls = 0;
  options.user = &calls;
  EXPECT_EQ(solve(tokens.data(), answers.data(), &options), DRIFTLESS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(calls, 1);
  EXPECT_NE(std::string_view(driftless_last_error()).find("on_step"), std::string_view::npos);
  EXPECT_EQ(solve(tokens.data(), answers.data(), nullptr), DRIFTLESS_OK) << "usable afterwards";
  driftless_free(engine);
}

TEST(Version, IsTheSameInBoth) { EXPECT_EQ(version(), driftless_version()); }

TEST(Engine, RefusesASecondCallWhileOneRuns) {
  Engine engine = Engine::load(DRIFTLESS_MODEL);
  const std::vector<uint8_t> puzzle = tokens_of(kBoards[0]);
  const std::vector<Board> boards = {{.tokens = puzzle}};
  int64_t refused = 0;
  const auto again = [&](const StepView&) {
    const auto solve = [&] { (void)engine.solve(boards); };
    EXPECT_EQ(thrown_by(solve, "one at a time"), DRIFTLESS_ERROR_INVALID_ARGUMENT);
    std::thread([&] {
      EXPECT_EQ(thrown_by(solve, "one at a time"), DRIFTLESS_ERROR_INVALID_ARGUMENT);
    }).join();
    ++refused;
  };
  const auto disturbed = engine.solve(boards, {.max_steps = 2, .on_step = again});
  EXPECT_GT(refused, 0);
  EXPECT_EQ(disturbed[0].tokens, engine.solve(boards, {.max_steps = 2})[0].tokens);
  const auto stop = [](const StepView&) { throw std::runtime_error("enough"); };
  EXPECT_THROW((void)engine.solve(boards, {.on_step = stop}), std::runtime_error);
  EXPECT_EQ(engine.solve(boards, {.max_steps = 1}).size(), 1u) << "a call that failed is over";
}

TEST(CInterface, RefusesMoreBoardsThanThereCanBe) {
  driftless_engine* engine = nullptr;
  ASSERT_EQ(driftless_load(DRIFTLESS_MODEL, 1, &engine), DRIFTLESS_OK) << driftless_last_error();
  uint8_t token = 1;
  for (const size_t boards : {SIZE_MAX, SIZE_MAX / 81, SIZE_MAX / 81 + 2}) {
    EXPECT_EQ(driftless_solve(engine, &token, boards, nullptr, &token, nullptr),
              DRIFTLESS_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(driftless_last_error()).find("solve: boards"), std::string::npos);
  }
  driftless_free(engine);
}

}  // namespace
}  // namespace driftless
