// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/journal.h"

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/run_program.h"

namespace driftless::run {
namespace {

const study::Json kOwner = {{"driftless_search", 1}, {"bits", 4.25}};
const Judged kErrors{.errors = {0.1, 1e-300, 1.0 / 3}};

class JournalFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string text() const { return driftless::testing::text_of(path_); }
  void expect_refused(const std::string& contents, const std::string& word) const {
    write_file_atomic(path_, contents);
    EXPECT_ERROR(Journal(path_, kOwner), ErrorCode::BadFile, word);
    EXPECT_EQ(text(), contents);
  }

  driftless::testing::TempDir dir_;
  std::filesystem::path path_ = dir_.path() / "out.search.jsonl";
};

TEST_F(JournalFile, GivesBackWhatWasTriedToTheBit) {
  Journal first(path_, kOwner);
  EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing was tried";
  EXPECT_EQ(first.next("a"), std::nullopt);
  first.add("a", kErrors);
  first.add("b", {.skipped = "a \"reason\""});
  const std::string both = text();
  Journal second(path_, kOwner);
  EXPECT_EQ(second.next("a")->errors, kErrors.errors);
  EXPECT_EQ(second.next("b")->skipped, "a \"reason\"");
  EXPECT_EQ(second.next("c"), std::nullopt);
  second.add("c", kErrors);
  EXPECT_TRUE(text().starts_with(both));
  EXPECT_EQ(std::ranges::count(text(), '\n'), 4);
}

TEST_F(JournalFile, OfOthersIsRefused) {
  const std::string owner = kOwner.dump() + "\n";
  expect_refused("{\"driftless_search\":1,\"bits\":4.5}\n", "bits: got 4.5, expected 4.25");
  expect_refused("{\"driftless_search\":2,\"bits\":4.25}\n", "driftless_search: got 2");
  expect_refused("{\"change\":\"a\"}\n", "not the journal of a search");
  expect_refused("[]\n", "not the journal of a search");
  expect_refused("boards\n", "search.jsonl:1");
  expect_refused("", "empty");
  expect_refused(owner + "{\"change\":\"a\",\"errors\":[0.5", "search.jsonl:2");
  expect_refused(owner + "{\"change\":\"a\"}\n", "with errors");
  expect_refused(owner + "{\"change\":\"a\",\"errors\":[\"b\"]}\n", "with errors");
  expect_refused(owner + "{\"change\":\"a\",\"errors\":[]}\n", "neither");
  expect_refused(owner + "{\"change\":1,\"errors\":[1]}\n", "with errors");
}

TEST_F(JournalFile, OfAnotherOrderIsRefused) {
  Journal(path_, kOwner).add("a", kErrors);
  Journal journal(path_, kOwner);
  EXPECT_ERROR(journal.next("b"), ErrorCode::BadFile, "change 1; got 'a', expected 'b'");
}

TEST_F(JournalFile, IsNotKeptWithoutAPlace) {
  Journal journal(std::filesystem::path(), kOwner);
  journal.add("a", kErrors);
  EXPECT_EQ(dir_.entry_count(), 0);
  EXPECT_EQ(journal_of("/dev/null"), "");
  EXPECT_EQ(journal_of(dir_.path() / "out"), dir_.path() / "out.search.jsonl");
}

}  // namespace
}  // namespace driftless::run
