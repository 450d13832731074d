// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/folder_lock.h"

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

TEST(FolderLock, IsHeldByOneAtATimeAndLeavesNothing) {
  const testing::TempDir dir;
  for (int i = 0; i < 2; ++i) {
    const FolderLock first(dir.path(), "wait");
    EXPECT_ERROR(FolderLock(dir.path(), "wait for it"), ErrorCode::Io,
                 "another process is writing there; wait for it");
  }
  EXPECT_EQ(dir.entry_count(), 0);
}

TEST(FolderLock, NeedsAFolder) {
  const testing::TempDir dir;
  EXPECT_ERROR(FolderLock(dir.path() / "absent", "wait"), ErrorCode::Io, "absent: cannot open");
}

}  // namespace
}  // namespace driftless
