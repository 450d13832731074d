// SPDX-License-Identifier: Apache-2.0
// Boards by task; c_studies.cc scores models on them.
#include "driftless/api/driftless_boards.h"

#include <algorithm>

#include "driftless/api/c_boards.h"
#include "driftless/api/c_calls.h"
#include "driftless/base/rng.h"
#include "driftless/run/boards.h"

namespace {

using driftless::ErrorCode;
using driftless::api::copied;
using driftless::api::guarded;
using driftless::api::require_given;
using driftless::api::require_size;
using driftless::api::text_or;
namespace run = driftless::run;
namespace task = driftless::task;

const task::Task& named(const char* name) {
  require_given(name, "task");
  return task::find_task(name);
}

std::vector<uint8_t> tokens_of(const task::Task& task, std::string_view text) {
  std::vector<uint8_t> tokens;
  for (const char c : text) {
    const size_t token = task.alphabet.find(c);
    DRIFTLESS_REQUIRE(token != std::string_view::npos, ErrorCode::InvalidArgument,
                      "tokens: no character of task ", task.name, "; got '", std::string(1, c),
                      "', expected one of '", task.alphabet, "'");
    tokens.push_back(static_cast<uint8_t>(token));
  }
  return tokens;
}

/// What the caller gets is one matrix.
void require_one_size(const std::vector<task::Example>& examples, std::string_view path) {
  for (const task::Example& example : examples) {
    const size_t expected = examples.front().input.size();
    DRIFTLESS_REQUIRE(example.input.size() == expected && example.label.size() == expected,
                      ErrorCode::BadFile, path, ": boards of several sizes; got ",
                      example.input.size(), " cells with an answer of ", example.label.size(),
                      ", expected ", expected, " as the first has");
  }
}

void copy_tokens(const std::vector<uint8_t>& tokens, uint8_t*& out) {
  if (out != nullptr) out = std::copy(tokens.begin(), tokens.end(), out);
}

}  // namespace

const char* driftless_task(int64_t index) {
  const auto tasks = task::tasks();
  return index < 0 || index >= std::ssize(tasks) ? nullptr
                                                 : tasks[static_cast<size_t>(index)].name.data();
}

int driftless_read_boards(const driftless_engine* engine, const char* name, const char* path,
                          const char* split, int64_t limit, driftless_boards** boards) {
  return guarded([&] {
    require_given(boards, "boards");
    *boards = nullptr;
    require_given(path, "boards: path");
    DRIFTLESS_REQUIRE(limit >= 0, ErrorCode::InvalidArgument, "boards: limit; got ", limit,
                      ", expected 0 or more");
    const run::BoardFile source{.path = path, .split = text_or(split, "test"), .limit = limit};
    if (engine != nullptr) {
      run::Boards read = run::read_boards_for(engine->checkpoint, engine->path, source, {});
      require_one_size(read.examples, source.path);
      *boards = new driftless_boards{read.task, std::move(read.examples)};
      return;
    }
    const task::Task& task = name == nullptr ? run::guess_task(source) : named(name);
    auto examples = run::read_boards(task, source);
    require_one_size(examples, source.path);
    *boards = new driftless_boards{task, std::move(examples)};
  });
}

int driftless_generate_boards(const char* name, int64_t count, int64_t cells, uint64_t seed,
                              driftless_boards** boards) {
  return guarded([&] {
    require_given(boards, "boards");
    *boards = nullptr;
    const task::Task& task = named(name);
    const task::Generator& generator =
        *task::need(task, &task::Task::generator, "generate", "generator");
    constexpr int64_t kMost = 1 << 24;
    DRIFTLESS_REQUIRE(count >= 1 && count <= kMost && cells >= 0 && cells <= kMost,
                      ErrorCode::InvalidArgument, "generate: count and cells; got ", count, " and ",
                      cells, ", expected 1 and 0 to ", kMost);
    std::vector<int64_t> values;
    for (const task::GeneratorOption& option : generator.options) values.push_back(option.usual);
    const int64_t side = generator.usual_side;
    const int64_t usual = side > 0 ? side * side : task.seq_len;
    driftless::Rng rng(seed);
    auto made = std::make_unique<driftless_boards>(driftless_boards{task, {}});
    while (std::ssize(made->examples) < count)
      made->examples.push_back(
          task::generate(task, {.cells = cells == 0 ? usual : cells, .values = values}, rng));
    *boards = made.release();
  });
}

int driftless_make_boards(const char* name, const uint8_t* inputs, const uint8_t* labels,
                          const int64_t* puzzles, size_t count, size_t cells,
                          driftless_boards** boards) {
  return guarded([&] {
    require_given(boards, "boards");
    *boards = nullptr;
    const task::Task& task = named(name);
    require_given(inputs, "boards: inputs");
    require_given(labels, "boards: labels");
    DRIFTLESS_REQUIRE(count > 0 && cells > 0, ErrorCode::InvalidArgument, "boards: got ", count,
                      " of ", cells, " cells, expected at least one of each");
    require_size(count, cells, "boards: count");
    auto made = std::make_unique<driftless_boards>(driftless_boards{task, {}});
    for (size_t i = 0; i < count; ++i) {
      task::Example example;
      example.input.assign(inputs + i * cells, inputs + (i + 1) * cells);
      example.label.assign(labels + i * cells, labels + (i + 1) * cells);
      if (puzzles != nullptr) example.puzzle = puzzles[i];
      made->examples.push_back(std::move(example));
    }
    *boards = made.release();
  });
}

void driftless_free_boards(driftless_boards* boards) { delete boards; }

int64_t driftless_board_count(const driftless_boards* boards) {
  return boards == nullptr ? 0 : std::ssize(boards->examples);
}

int64_t driftless_board_cells(const driftless_boards* boards) {
  return boards == nullptr || boards->examples.empty() ? 0
                                                       : std::ssize(boards->examples.front().input);
}

const char* driftless_board_task(const driftless_boards* boards) {
  return boards == nullptr ? "" : boards->task.name.data();
}

int driftless_copy_boards(const driftless_boards* boards, uint8_t* inputs, uint8_t* labels,
                          int64_t* puzzles) {
  return guarded([&] {
    require_given(boards, "boards");
    for (const task::Example& example : boards->examples) {
      copy_tokens(example.input, inputs);
      copy_tokens(example.label, labels);
      if (puzzles != nullptr) *puzzles++ = example.puzzle;
    }
  });
}

int driftless_check(const char* name, const uint8_t* input, const uint8_t* label,
                    const uint8_t* answer, size_t cells, int* outcome) {
  return guarded([&] {
    const task::Task& task = named(name);
    require_given(input, "check: input");
    require_given(label, "check: label");
    require_given(answer, "check: answer");
    require_given(outcome, "check: outcome");
    require_size(cells, 1, "check: cells");
    task::Example example;
    example.input.assign(input, input + cells);
    example.label.assign(label, label + cells);
    const task::Outcome found = task.check(example, {answer, cells});
    *outcome = found == task::Outcome::Exact      ? DRIFTLESS_EXACT
               : found == task::Outcome::Accepted ? DRIFTLESS_ACCEPTED
                                                  : DRIFTLESS_WRONG;
  });
}

int driftless_board_text(const char* name, const uint8_t* tokens, size_t cells, char** text) {
  return guarded([&] {
    const task::Task& task = named(name);
    require_given(tokens, "text: tokens");
    require_given(text, "text: text");
    require_size(cells, 1, "text: cells");
    *text = copied(task::to_text(task, {tokens, cells}));
  });
}

int driftless_draw_board(const char* name, const uint8_t* tokens, size_t cells, char** lines) {
  return guarded([&] {
    const task::Task& task = named(name);
    const auto draw = task::need(task, &task::Task::draw, "draw", "drawing");
    require_given(tokens, "draw: tokens");
    require_given(lines, "draw: lines");
    require_size(cells, 1, "draw: cells");
    *lines = copied(draw({tokens, cells}));
  });
}

int driftless_board_tokens(const char* name, const char* text, uint8_t* tokens) {
  return guarded([&] {
    const task::Task& task = named(name);
    require_given(text, "tokens: text");
    require_given(tokens, "tokens: tokens");
    copy_tokens(tokens_of(task, text), tokens);
  });
}
