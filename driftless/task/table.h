// SPDX-License-Identifier: Apache-2.0
// The tasks: what a command needs to find one, and what it may do with any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/base/text/text.h"
#include "driftless/task/task.h"

namespace driftless::task {

/// All rows but that of other_task().
std::span<const Task> tasks();
/// Throws InvalidArgument with the nearest name. "other" is found too.
const Task& find_task(std::string_view name);

/// Boards of any other kind, which come from data-set folders only: right is what the label says.
/// Its alphabet has digits and letters for the first 62 tokens.
const Task& other_task();

/// The first task whose files look like the text, or null.
const Task* claimant(std::string_view text);

/// The names of the tasks with a part, null for all.
template <class Part = const Generator*>
std::vector<std::string_view> names_of_tasks(Part Task::*part = nullptr) {
  std::vector<std::string_view> names;
  for (const Task& task : tasks())
    if (part == nullptr || task.*part != nullptr) names.push_back(task.name);
  return names;
}

/// What a command needs of a task and calls `what`. Throws Unsupported where the task lacks it:
/// "data generate: task arc has no generator; expected one of sudoku, maze".
template <class Part>
Part need(const Task& task, Part Task::*part, std::string_view command, std::string_view what) {
  DRIFTLESS_REQUIRE(task.*part != nullptr, ErrorCode::Unsupported, command, ": task ", task.name,
                    " has no ", what, "; expected one of ", join(names_of_tasks(part), ", "));
  return task.*part;
}

/// Reads the boards of a file. Throws BadFile when it has none or boards of several sizes.
std::vector<Example> read_examples(const Task& task, const std::filesystem::path& path);
std::vector<Example> parse_examples(const Task& task, std::string_view text,
                                    const std::string& where);

/// A board of the task's generator, which it must have. Throws InvalidArgument when a hundred
/// thousand tries in a row do not give what is asked, or none could.
Example generate(const Task& task, const GeneratorRequest& request, Rng& rng);

/// The board itself where the task has no symmetries.
Example random_image(const Task& task, const Example& board, Rng& rng);

/// A text, equal for two boards exactly when a symmetry turns one question into the other. About
/// 0.1 ms for Sudoku. Throws InvalidArgument on what is no board of the task.
std::string canonical_text(const Task& task, const Example& board);

std::string to_text(const Task& task, std::span<const uint8_t> tokens);

}  // namespace driftless::task
