// SPDX-License-Identifier: Apache-2.0
// Data sets that lie beside the source tree and are no part of it. Tests skip where they are
// absent.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace driftless::testing {

/// ../shared next to the source tree, or the folder that DRIFTLESS_SHARED names.
inline std::filesystem::path shared_path(const std::filesystem::path& inside) {
  if (const char* const root = std::getenv("DRIFTLESS_SHARED")) return root / inside;
  return std::filesystem::path(DRIFTLESS_SHARED_FOLDER) / inside;
}

}  // namespace driftless::testing

/// Leaves the test, marked as skipped, unless the file is there.
#define DRIFTLESS_NEEDS_FILE(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no data set at " << (path).string()
