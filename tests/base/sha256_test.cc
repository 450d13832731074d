// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/sha256.h"

#include <string>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

std::string hash_of(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }

// FIPS 180-4 and the NIST example values; lengths on both sides of a block.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFile) {
  const testing::TempDir dir;
  write_file_atomic(dir.path() / "abc", std::string_view("abc"));
  EXPECT_EQ(sha256_of_file(dir.path() / "abc"), hash_of("abc"));
  EXPECT_ERROR(sha256_of_file(dir.path() / "absent"), ErrorCode::Io, "absent");
}

TEST(Sha256, OfAFolder) {
  const testing::TempDir dir;
  std::filesystem::create_directories(dir.path() / "set" / "train");
  write_file_atomic(dir.path() / "set" / "train" / "b", std::string_view("abc"));
  write_file_atomic(dir.path() / "set" / "a", std::string_view(""));
  EXPECT_EQ(sha256_of_path(dir.path() / "set"),
            hash_of(hash_of("") + "  a\n" + hash_of("abc") + "  train/b\n"));
  EXPECT_EQ(sha256_of_path(dir.path() / "set" / "train" / "b"), hash_of("abc"));
  EXPECT_ERROR(sha256_of_path(dir.path() / "absent"), ErrorCode::Io, "absent");
}

}  // namespace
}  // namespace driftless
