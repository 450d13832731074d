// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/input_file.h"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "driftless/base/files/file.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

TEST(InputFile, ReadsOnAndSaysWhereAFileEnds) {
  const testing::TempDir dir;
  write_file_atomic(dir.path() / "in", "abcde");
  InputFile file(dir.path() / "in");
  EXPECT_EQ(file.size(), 5u);
  std::array<std::byte, 3> part{};
  EXPECT_EQ(file.read(part), 3u);
  EXPECT_EQ(file.read(part), 2u);
  EXPECT_EQ(part[1], std::byte{'e'});
  EXPECT_ERROR(file.read_all(part), ErrorCode::Io, "shrank");
}

TEST(InputFile, NamesWhatIsNoFileWithoutWaitingForIt) {
  const testing::TempDir dir;
  ASSERT_EQ(::mkfifo((dir.path() / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", dir.path() / "loop");
  EXPECT_ERROR(InputFile(dir.path() / "pipe"), ErrorCode::Io, "pipe: cannot read; got a pipe");
  EXPECT_ERROR(InputFile(dir.path()), ErrorCode::Io, "got a folder");
  EXPECT_ERROR(InputFile("/dev/zero"), ErrorCode::Io, "got a device");
  EXPECT_ERROR(InputFile(dir.path() / "loop"), ErrorCode::Io, "loop: cannot open");
  EXPECT_ERROR(InputFile(std::string(300, 'x')), ErrorCode::Io, "File name too long");
}

TEST(InputFile, FilesThatTheSystemMakesUpAreNotEmpty) {
  if (!std::filesystem::exists("/proc/self/status")) GTEST_SKIP() << "no /proc";
  EXPECT_EQ(InputFile("/proc/self/status").size(), 0u);
  EXPECT_GT(read_file("/proc/self/status").size(), 100u);
}

}  // namespace
}  // namespace driftless
