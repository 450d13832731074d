// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/file.h"

#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(File, ANewFileGetsTheUsualModeAndAnOldOneKeepsItsOwn) {
  const testing::TempDir dir;
  const mode_t mask = ::umask(027);
  write_file_atomic(dir.path() / "new", "text");
  ::umask(mask);
  EXPECT_EQ(mode_of(dir.path() / "new"), 0640u);
  for (const mode_t mode : {0600u, 0640u, 0664u, 0777u}) {
    ASSERT_EQ(::chmod((dir.path() / "new").c_str(), mode), 0);
    write_file_atomic(dir.path() / "new", "more");
    EXPECT_EQ(mode_of(dir.path() / "new"), mode);
  }
}

TEST(File, AnOldFileKeepsItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const testing::TempDir dir;
  write_file_atomic(dir.path() / "out", "text");
  ASSERT_EQ(::chown((dir.path() / "out").c_str(), 65534, 65533), 0);
  write_file_atomic(dir.path() / "out", "more");
  struct stat status {};
  ASSERT_EQ(::stat((dir.path() / "out").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 65534u);
  EXPECT_EQ(status.st_gid, 65533u);
}

TEST(File, AProtectedFileIsNotReplaced) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to any file";
  const testing::TempDir dir;
  write_file_atomic(dir.path() / "out", "precious");
  ASSERT_EQ(::chmod((dir.path() / "out").c_str(), 0400), 0);
  EXPECT_THROW(write_file_atomic(dir.path() / "out", "text"), Error);
  EXPECT_EQ(text_of(dir.path() / "out"), "precious");
}

TEST(File, LinksAreFollowed) {
  const testing::TempDir dir;
  std::filesystem::create_directory(dir.path() / "there");
  std::filesystem::create_directory_symlink("there", dir.path() / "folder");
  std::filesystem::create_symlink("there/target", dir.path() / "first");
  std::filesystem::create_symlink(dir.path() / "first", dir.path() / "there" / "second");
  for (const char* const text : {"new", "again"}) {  // a target that is missing, one that is there
    write_file_atomic(dir.path() / "folder" / "second", text);
    EXPECT_EQ(text_of(dir.path() / "there" / "target"), text);
  }
  EXPECT_TRUE(std::filesystem::is_symlink(dir.path() / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir.path() / "there" / "second"));
  EXPECT_EQ(dir.entry_count(), 3);
  std::filesystem::create_symlink("circle", dir.path() / "circle");
  EXPECT_THROW(write_file_atomic(dir.path() / "circle", "text"), Error);
  EXPECT_THROW(follow_links(dir.path() / "circle"), Error);
}

TEST(File, APipeIsWrittenInto) {
  const testing::TempDir dir;
  ASSERT_EQ(::mkfifo((dir.path() / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", dir.path() / "link");
  // Open at both ends, so that nobody waits for the other.
  const int pipe = ::open((dir.path() / "pipe").c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(pipe, 0);
  for (const char* const name : {"pipe", "link"}) {
    write_file_atomic(dir.path() / name, "text");
    char got[8] = {};
    EXPECT_EQ(::read(pipe, got, sizeof(got)), 4) << name;
    EXPECT_STREQ(got, "text") << name;
  }
  ::close(pipe);
  EXPECT_TRUE(std::filesystem::is_symlink(dir.path() / "link"));
}

TEST(File, ADeviceIsWrittenInto) {
  const testing::TempDir dir;
  const std::filesystem::path null = dir.path() / "null";
  if (::mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0)
    GTEST_SKIP() << "cannot make a device here, which takes root";
  if (!std::ofstream(null).is_open()) GTEST_SKIP() << "devices cannot be opened here";
  std::filesystem::create_symlink("null", dir.path() / "link");
  write_file_atomic(null, "text");
  write_file_atomic(dir.path() / "link", "text");
  EXPECT_TRUE(std::filesystem::is_character_file(null));
  EXPECT_TRUE(std::filesystem::is_symlink(dir.path() / "link"));
  EXPECT_EQ(dir.entry_count(), 2);
}

TEST(File, LeftoversOfAKilledWriterGoWithTheNextWrite) {
  const testing::TempDir dir;
  for (const char* const name : {"out.tmp.a1B2c3", "out.tmp.busy00", "other.tmp.a1B2c3",
                                 "out.tmp.short", "out.tmp.a1B2c3.mine"})
    std::ofstream(dir.path() / name) << "half";
  std::filesystem::create_symlink("other.tmp.a1B2c3", dir.path() / "out.tmp.linked");
  const int busy = ::open((dir.path() / "out.tmp.busy00").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(busy, LOCK_EX), 0);  // as a writer that lives
  write_file_atomic(dir.path() / "out", "text");
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "out.tmp.a1B2c3"));
  EXPECT_EQ(dir.entry_count(), 6);
  ::close(busy);
  write_file_atomic(dir.path() / "out", "more");
  EXPECT_EQ(dir.entry_count(), 5);
  EXPECT_EQ(text_of(dir.path() / "out"), "more");
}

TEST(File, ManyWritersOfOneFileDoNotTakeEachOthersPartForALeftover) {
  const testing::TempDir dir;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) write_file_atomic(dir.path() / "out", "whole");
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(text_of(dir.path() / "out"), "whole");
  EXPECT_EQ(dir.entry_count(), 1);
}

}  // namespace
}  // namespace driftless
