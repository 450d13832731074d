// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

std::string text_of(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(File, WritesWholeAndReplaces) {
  const testing::TempDir dir;
  const auto path = dir.path() / "out";
  write_file_atomic(path, "first");
  write_file_atomic(path, "second");
  EXPECT_EQ(text_of(path), "second");
  EXPECT_EQ(dir.entry_count(), 1);
}

TEST(File, EmptyFileIsValid) {
  const testing::TempDir dir;
  write_file_atomic(dir.path() / "empty", "");
  EXPECT_TRUE(read_file(dir.path() / "empty").empty());
}

TEST(File, MissingInputNamesThePath) {
  const testing::TempDir dir;
  try {
    read_file(dir.path() / "absent");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Io);
    EXPECT_NE(std::string(error.what()).find("absent"), std::string::npos);
  }
}

TEST(File, FolderIsNotAFile) {
  const testing::TempDir dir;
  EXPECT_THROW(read_file(dir.path()), Error);
}

TEST(File, FailedWriteLeavesNothingBehind) {
  const testing::TempDir dir;
  std::filesystem::create_directory(dir.path() / "taken");
  std::ofstream(dir.path() / "taken" / "inside") << "x";
  EXPECT_THROW(write_file_atomic(dir.path() / "taken", "text"), Error);
  EXPECT_THROW(write_file_atomic(dir.path() / "no_such_folder" / "out", "text"), Error);
  EXPECT_EQ(dir.entry_count(), 1);
}

}  // namespace
}  // namespace driftless
