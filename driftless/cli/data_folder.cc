// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/data_folder.h"

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "driftless/base/error.h"

namespace driftless::cli {
namespace {

std::filesystem::path data_root() {
  const char* const named = std::getenv("DRIFTLESS_DATA");
  if (named != nullptr && std::string_view(named) != "") return named;
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  DRIFTLESS_REQUIRE(!failure, ErrorCode::Io, "/proc/self/exe: cannot read, so the folder of the ",
                    "program is unknown; ", failure.message(), "; set DRIFTLESS_DATA");
  return program.parent_path().parent_path() / "share" / "driftless";
}

}  // namespace

std::filesystem::path data_folder(const char* name) {
  std::filesystem::path folder = data_root() / name;
  std::error_code ignored;
  DRIFTLESS_REQUIRE(std::filesystem::is_directory(folder, ignored), ErrorCode::Io, folder.string(),
                    ": no such folder, expected the bundled ", name,
                    "; install the program with its share/driftless, or set DRIFTLESS_DATA");
  return folder;
}

std::string or_bundled(const std::string& path) {
  if (!path.starts_with("models/") && !path.starts_with("recipes/")) return path;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  const std::filesystem::path bundled = data_root() / path;
  return std::filesystem::exists(bundled, ignored) ? bundled.string() : path;
}

}  // namespace driftless::cli
