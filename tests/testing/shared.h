// SPDX-License-Identifier: Apache-2.0
// Published data and checkpoints that tests use where they are present: the folder `shared` beside
// the source tree, or the one that the environment variable DRIFTLESS_SHARED names.
#pragma once

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace driftless::testing {

inline std::filesystem::path shared_folder() {
  const char* named = std::getenv("DRIFTLESS_SHARED");
  if (named != nullptr) return named;
  return std::filesystem::path(DRIFTLESS_SOURCE_DIR) / ".." / "shared";
}

}  // namespace driftless::testing

#define DRIFTLESS_SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << (path).string() << " is not here"
