// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/search.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/run/search/tiny_search.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/run_program.h"

namespace driftless::run {
namespace {

using driftless::testing::text_of;

/// A search, all that it tried, and what it left behind.
struct Outcome {
  Found found{};
  std::vector<Tried> tried{};
  std::string journal{};
  std::string packed{};
};

SearchRequest request_of(double bits, const std::filesystem::path& journal = {}) {
  SearchRequest request{.bits = bits, .backend = {.device = "native"}, .model_sha256 = "abc"};
  request.scheme.calibration.data = "models/demo-sudoku.csv";
  request.journal = journal;
  return request;
}

Outcome search(const SearchRequest& request) {
  static const store::Checkpoint checkpoint = testing::tiny_checkpoint();
  const driftless::testing::TempDir dir;
  Outcome outcome;
  const auto tried = [&](const Tried& one) { outcome.tried.push_back(one); };
  outcome.found = search_bits(checkpoint, request, {.tried = tried});
  store::save_packed(dir.path() / "packed", outcome.found.packed);
  outcome.packed = text_of(dir.path() / "packed");
  if (!request.journal.empty()) outcome.journal = text_of(request.journal);
  return outcome;
}

class SearchOfTiny : public ::testing::Test {
 protected:
  /// One that nothing disturbs.
  static const Outcome& whole() {
    static const Outcome outcome = [] {
      const driftless::testing::TempDir dir;
      return search(request_of(4.25, dir.path() / "journal"));
    }();
    return outcome;
  }

  driftless::testing::TempDir dir_;
  std::filesystem::path journal_ = dir_.path() / "journal";
};

TEST_F(SearchOfTiny, GoesOnFromAnyLineToTheSameBytes) {
  const std::string& lines = whole().journal;
  const auto count = std::ranges::count(lines, '\n');
  ASSERT_GT(count, 20);
  for (const auto kept : {count / 2, count - 1, count}) {
    size_t end = 0;
    for (int64_t line = 0; line < kept; ++line) end = lines.find('\n', end) + 1;
    write_file_atomic(journal_, lines.substr(0, end));
    const Outcome resumed = search(request_of(4.25, journal_));
    EXPECT_EQ(resumed.packed, whole().packed) << kept;
    EXPECT_EQ(resumed.journal, lines) << kept;
    EXPECT_EQ(resumed.tried.size(), whole().tried.size()) << kept;
  }
}

TEST_F(SearchOfTiny, WhatTheJournalHoldsIsNotTriedAgain) {
  const std::string owner = whole().journal.substr(0, whole().journal.find('\n') + 1);
  write_file_atomic(journal_, owner + "{\"change\":\"mxint4\",\"errors\":[9,9,9]}\n");
  const store::Checkpoint checkpoint = testing::tiny_checkpoint();
  const auto tried = [](const Tried& one) {
    EXPECT_EQ(one.change, "mxint4");
    EXPECT_EQ(one.error, 9);
    fail(ErrorCode::Internal, "enough");
  };
  EXPECT_ERROR(search_bits(checkpoint, request_of(4.25, journal_), {.tried = tried}),
               ErrorCode::Internal, "enough");
}

TEST_F(SearchOfTiny, AJournalOfOtherArgumentsIsRefused) {
  write_file_atomic(journal_, whole().journal);
  const auto expect_refused = [&](const std::string& word, auto change) {
    SearchRequest request = request_of(4.25, journal_);
    change(request);
    EXPECT_ERROR(search(request), ErrorCode::BadFile, word);
    EXPECT_EQ(text_of(journal_), whole().journal);
  };
  expect_refused("bits: got 4.25, expected 4.5", [](auto& request) { request.bits = 4.5; });
  expect_refused("model: got \"abc\", expected \"abd\"",
                 [](auto& request) { request.model_sha256 = "abd"; });
  expect_refused("boards: got", [](auto& request) { request.scheme.calibration.seed = 2; });
  expect_refused("boards: got", [](auto& request) { request.scheme.calibration.boards = 3; });
  expect_refused("coverage: got \"block\", expected \"linear\"",
                 [](auto& request) { request.scheme.coverage = "linear"; });
  expect_refused("backend: got \"native\", expected \"cpu\"",
                 [](auto& request) { request.backend.device = "cpu"; });
}

TEST_F(SearchOfTiny, DoesNotDependOnThreads) {
  SearchRequest request = request_of(4.25);
  request.backend.threads = 3;
  EXPECT_EQ(search(request).packed, whole().packed);
}

TEST_F(SearchOfTiny, LayersTakeWaysOfTheirOwnWhereThatClearlyHelps) {
  const Outcome found = search(request_of(2.25));
  double least = found.tried.at(0).error;
  int64_t of_layers = 0;
  const std::string& method = found.found.packed.method;
  for (const Tried& tried : found.tried) {
    if (!tried.is_kept) continue;
    EXPECT_LE(tried.error, least) << tried.change;
    least = tried.error;
    if (!tried.is_whole) ++of_layers;
    EXPECT_NE(method.find(tried.change), std::string::npos) << tried.change;
  }
  EXPECT_GT(of_layers, 0);
  EXPECT_NE(method.find("on other boards"), std::string::npos) << method;
  EXPECT_EQ(found.found.bits.weights, 2.25);
  EXPECT_EQ(found.found.bits.acts, 2.25);
}

TEST_F(SearchOfTiny, BitsBetweenFormatsGoToAFewLayers) {
  const study::PlanBits bits = search(request_of(3.5)).found.bits;
  EXPECT_GT(bits.weights + bits.acts, 2 * 3.25);
  EXPECT_LE(bits.weights, 3.5);
  EXPECT_LE(bits.acts, 3.5);
}

TEST_F(SearchOfTiny, ChangesOfInputsAreSearchedForAsWell) {
  SearchRequest request = request_of(4.25);
  request.scheme.delta = true;
  const Outcome found = search(request);
  for (const quant::LayerPlan& layer : found.found.packed.plan.layers) EXPECT_TRUE(layer.delta);
  EXPECT_LT(found.tried.front().error, whole().tried.front().error);
}

TEST_F(SearchOfTiny, WhatRunsNowhereIsAnError) {
  SearchRequest request = request_of(4.25);
  request.scheme.hadamard = true;
  EXPECT_ERROR(search(request), ErrorCode::Unsupported, "no format runs; layer");
  EXPECT_ERROR(search(request_of(1)), ErrorCode::InvalidArgument, "--bits: got 1");
}

TEST_F(SearchOfTiny, KeepsWhatWasTriedWhereItsWatchThrows) {
  const store::Checkpoint checkpoint = testing::tiny_checkpoint();
  const SearchWatch watch{.tried = [](const Tried&) { fail(ErrorCode::Internal, "enough"); }};
  EXPECT_ERROR(search_bits(checkpoint, request_of(4.25, journal_), watch), ErrorCode::Internal,
               "enough");
  EXPECT_EQ(std::ranges::count(text_of(journal_), '\n'), 2);
}

}  // namespace
}  // namespace driftless::run
