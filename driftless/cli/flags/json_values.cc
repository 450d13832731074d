// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/flags/json_values.h"

#include <filesystem>
#include <string_view>

#include "driftless/base/files/standard_input.h"

namespace driftless::cli {
namespace {

bool is_board(std::string_view word) {
  constexpr size_t kLeastCells = 16;
  return word.size() >= kLeastCells &&
         word.find_first_not_of("0123456789.#SGo ") == std::string_view::npos;
}

bool can_be_json_file(const std::string& verb, const std::string& word) {
  if (word == kStandardStream) return true;
  if (word.starts_with('-')) return false;
  if (verb != "solve" && verb != "ladder") return true;
  if (is_board(word)) return false;
  const std::filesystem::path path(word);
  std::error_code ignored;
  return path.extension() == ".json" || path.extension() == ".jsonl" ||
         !std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::vector<std::string> with_json_values(std::vector<std::string> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == "--json" &&
        (i + 1 == arguments.size() || !can_be_json_file(arguments[0], arguments[i + 1])))
      arguments[i] = "--json=-";
  return arguments;
}

}  // namespace driftless::cli
