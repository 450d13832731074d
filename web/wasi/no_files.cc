// SPDX-License-Identifier: Apache-2.0
// What the library calls to read files, where there are none. The linker takes these before those
// of the libraries.
#include <filesystem>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/task/arc/row.h"

namespace driftless {
namespace {

[[noreturn]] void refuse() {
  fail(ErrorCode::Unsupported, "files: there are none here; expected bytes or text");
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path&) { refuse(); }

namespace task::arc {
namespace {

/// ARC's puzzles are folders of files.
Task row_without_files(std::string_view name) {
  return {.name = name,
          .description = "ARC, which needs files",
          .alphabet = "?|0123456789",
          .seq_len = 0,
          .family = Family::Arc,
          .read = [](const std::filesystem::path&) -> std::vector<Example> { refuse(); },
          .parse = [](std::string_view, const std::string&) -> std::vector<Example> { refuse(); },
          .check = check_counted_cells};
}

}  // namespace

Task row() { return row_without_files("arc"); }
Task mini_row() { return row_without_files("mini-arc"); }

}  // namespace task::arc
}  // namespace driftless
