// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/table.h"

#include <algorithm>
#include <array>

#include "driftless/task/arc/row.h"
#include "driftless/task/maze/row.h"
#include "driftless/task/sudoku/row.h"

namespace driftless::task {
namespace {

std::vector<Example> read_no_file(const std::filesystem::path& path) {
  fail(ErrorCode::BadFile, path.string(),
       ": boards of a task without files of its own; expected a data-set folder");
}

std::vector<Example> parse_no_text(std::string_view /*text*/, const std::string& where) {
  return read_no_file(where);
}

constexpr Task kOtherTask = {
    .name = "other",
    .description = "any other task: data-set folders",
    .alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    .seq_len = 0,
    .read = read_no_file,
    .parse = parse_no_text,
    .check = check_counted_cells};

/// The examples, if there are some, all of one size.
std::vector<Example> of_one_size(std::vector<Example> examples, const Task& task,
                                 const std::string& where) {
  DRIFTLESS_REQUIRE(!examples.empty(), ErrorCode::BadFile, where, ": no ", task.name, " boards");
  for (const Example& example : examples)
    DRIFTLESS_REQUIRE(example.input.size() == examples.front().input.size(), ErrorCode::BadFile,
                      where, ": boards of several sizes; got ", examples.front().input.size(),
                      " and ", example.input.size(), " cells");
  return examples;
}

}  // namespace

std::span<const Task> tasks() {
  static const std::array rows = {sudoku::row(), maze::row(), arc::row(), arc::mini_row()};
  return rows;
}

const Task& find_task(std::string_view name) {
  if (name == kOtherTask.name) return kOtherTask;
  for (const Task& task : tasks())
    if (task.name == name) return task;
  const std::vector<std::string_view> names = names_of_tasks();
  fail(ErrorCode::InvalidArgument, "unknown task; got '", name, "', expected one of ",
       join(names, ", "), did_you_mean(name, names));
}

const Task& other_task() { return kOtherTask; }

const Task* claimant(std::string_view text) {
  for (const Task& task : tasks())
    if (task.claims != nullptr && task.claims(text)) return &task;
  return nullptr;
}

std::vector<Example> read_examples(const Task& task, const std::filesystem::path& path) {
  return of_one_size(task.read(path), task, path.string());
}

std::vector<Example> parse_examples(const Task& task, std::string_view text,
                                    const std::string& where) {
  return of_one_size(task.parse(text, where), task, where);
}

Example generate(const Task& task, const GeneratorRequest& request, Rng& rng) {
  constexpr int64_t kTries = 100'000;
  DRIFTLESS_ASSERT(task.generator != nullptr);
  for (int64_t i = 0; i < kTries; ++i)
    if (auto example = task.generator->attempt(request, rng)) return std::move(*example);
  fail(ErrorCode::InvalidArgument, task.name, " generator: none of ", kTries,
       " tries has what is asked; ask for less");
}

Example random_image(const Task& task, const Example& board, Rng& rng) {
  return task.random_image == nullptr ? board : task.random_image(board, rng);
}

std::string canonical_text(const Task& task, const Example& board) {
  return to_text(task, task.canonical == nullptr ? board.input : task.canonical(board));
}

std::string to_text(const Task& task, std::span<const uint8_t> tokens) {
  return to_text(task.alphabet, tokens);
}

}  // namespace driftless::task
