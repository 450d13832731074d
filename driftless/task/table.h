// SPDX-License-Identifier: Apache-2.0
// The tasks as data: what a command needs to read, show and check any of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/task/score.h"

namespace driftless::task {

/// One board as a model sees it: equally many tokens in and out; 0 in the label does not count.
struct Example {
  std::string name;  ///< of the source, ARC task or variant; may be empty
  std::vector<uint8_t> input;
  std::vector<uint8_t> label;
  int64_t puzzle = 0;  ///< row of the model's puzzle table
};

struct Task {
  std::string_view name;
  std::string_view description;
  /// Character of each token, for text; the first is the pad. Its size is the vocabulary size.
  std::string_view alphabet;
  /// Cells of the published boards; files may hold boards of other sizes.
  int64_t seq_len;
  std::vector<Example> (*read)(const std::filesystem::path& path);
  /// The same of a text, which messages call `where`.
  std::vector<Example> (*parse)(std::string_view text, const std::string& where);
  /// Compares a prediction with the label. Throws InvalidArgument when lengths differ or the input
  /// is no board of this task.
  Outcome (*check)(const Example& example, std::span<const uint8_t> prediction);
  /// A board of our own with so many cells; null where the task has no generator. Throws
  /// InvalidArgument when no board has so many.
  Example (*generate)(int64_t cells, Rng& rng) = nullptr;

  [[nodiscard]] int64_t vocab_size() const { return static_cast<int64_t>(alphabet.size()); }
};

std::span<const Task> tasks();
/// Throws InvalidArgument with the nearest name.
const Task& find_task(std::string_view name);

/// Boards of any other kind, which come from data-set folders only: right is what the label says.
/// Its alphabet has digits and letters for the first 62 tokens.
const Task& other_task();

/// Reads the boards of a file. Throws BadFile when it has none or boards of several sizes.
std::vector<Example> read_examples(const Task& task, const std::filesystem::path& path);
std::vector<Example> parse_examples(const Task& task, std::string_view text,
                                    const std::string& where);

/// The tokens as text; tokens outside the vocabulary show as '?'.
std::string to_text(const Task& task, std::span<const uint8_t> tokens);

}  // namespace driftless::task
