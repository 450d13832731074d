// SPDX-License-Identifier: Apache-2.0
// Random command lines, made of verbs, flags, files and words that suit none of them, with limits
// on time and memory: each ends with a documented code, in few lines without control characters,
// soon after it is asked to stop.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "driftless/base/rng.h"

#include "tests/cli/faults/jobs.h"
#include "tests/testing/sanitizer.h"

namespace driftless::cli_testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A verb and the flags that the program says it has.
struct KnownVerb {
  std::string name;  // without "driftless"
  Words flags;
};

/// The text between quotes after `key`.
std::string quoted(const std::string& line, const std::string& key) {
  const size_t first = line.find(key);
  if (first == line.npos) return "";
  const size_t begin = line.find('\'', first) + 1;
  return line.substr(begin, line.find('\'', begin) - begin);
}

/// From the completions, which have every verb on a line of its own.
std::vector<KnownVerb> known_verbs() {
  std::vector<KnownVerb> verbs;
  std::istringstream lines(driftless("manual bash").out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" flags='") == line.npos || line.find("'driftless") == line.npos) continue;
    KnownVerb verb{quoted(line, "'driftless").substr(std::string("driftless").size()), {}};
    std::istringstream flags(quoted(line, " flags="));
    for (std::string flag; flags >> flag;)
      if (flag != "--help" && flag != "-h") verb.flags.push_back(flag);
    if (!verb.flags.empty()) verbs.push_back(verb);
  }
  return verbs;
}

/// Quoted for the shell; none has a quote of its own.
Words values() {
  return {"model",
          "packed",
          "boards.csv",
          "recipe.toml",
          "plan.json",
          "folder",
          "nowhere",
          "out",
          "-",
          "''",
          "0",
          "1",
          "2",
          "-1",
          "99999999999999999999999",
          "1e400",
          "nan",
          "0x10",
          "1.5",
          "mxint4",
          "int4/tensor/static",
          "none",
          "int8:",
          "fp4_e2m1,",
          "mxint4,rule=mse,window=4",
          "sudoku",
          "maze",
          "cpu",
          "cuda",
          "/dev/null",
          "/dev/zero",
          "/proc/self/mem",
          "'a b'",
          "\"$(printf '\\033[2J')\"",
          "\"$(printf '\\377\\376')\"",
          std::string(300, 'x'),
          "--",
          "-h",
          "all",
          "f32"};
}

template <class List>
const auto& any(const List& list, Rng& rng) {
  return list[static_cast<size_t>(rng.below(list.size()))];
}

std::string random_line(const std::vector<KnownVerb>& verbs, const Words& others, Rng& rng) {
  const KnownVerb& verb = any(verbs, rng);
  std::string line = verb.name;
  for (uint64_t i = rng.below(6); i > 0; --i) {
    const Words& flags = rng.below(12) == 0 ? any(verbs, rng).flags : verb.flags;
    if (rng.below(3) != 0) line += " " + any(flags, rng);
    if (rng.below(4) != 0) line += (rng.below(6) == 0 ? "=" : " ") + any(others, rng);
  }
  return line;
}

/// Files of their own for the command lines to read and overwrite.
void fill(const fs::path& folder) {
  fs::create_directories(folder / "folder");
  fs::copy_file(DRIFTLESS_MODEL, folder / "model", fs::copy_options::overwrite_existing);
  fs::copy_file(DRIFTLESS_PACKED_MODEL, folder / "packed", fs::copy_options::overwrite_existing);
  fs::copy_file("models/demo-sudoku.csv", folder / "boards.csv",
                fs::copy_options::overwrite_existing);
  fs::copy_file("tests/cli/faults/study.toml", folder / "recipe.toml",
                fs::copy_options::overwrite_existing);
}

void expect_documented(const Outcome& outcome, const std::string& line) {
  const int code = outcome.exit_code;
  EXPECT_TRUE(code == 0 || code == 2 || (code >= 10 && code <= 15) || code == 128 + SIGTERM)
      << line << ": " << code << " " << outcome.err;
  EXPECT_TRUE(
      std::none_of(outcome.err.begin(), outcome.err.end(),
                   [](char letter) { return letter >= 0 && letter < ' ' && letter != '\n'; }))
      << line << ": " << outcome.err;
  EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 24) << line << outcome.err;
  if (code == 2 || (code >= 10 && code <= 15)) {
    EXPECT_NE(outcome.err.find("driftless: "), std::string::npos) << line << ": " << outcome.err;
  }
}

TEST(CommandLine, AnyWordsEndInADocumentedCode) {
  const testing::TempDir dir;
  const std::vector<KnownVerb> verbs = known_verbs();
  ASSERT_GT(verbs.size(), 20u);
  const Words others = values();
  Rng rng(static_cast<uint64_t>(rounds(20)));
  const std::string limits = testing::kHasSanitizer ? "" : "ulimit -v 8000000; ";
  const std::string program = fs::absolute(DRIFTLESS_PROGRAM).string();
  fill(dir.path());
  const int64_t count = 4 * rounds(testing::kHasSanitizer ? 8 : 20);
  std::printf("cases: %lld\n", static_cast<long long>(count));
  for (int64_t i = count; i > 0 && !HasFailure(); --i) {
    if (i % 20 == 0) fill(dir.path());
    const std::string line = random_line(verbs, others, rng);
    const Outcome outcome = testing::run_program("cd " + dir.path().string() + "; " + limits +
                                                 "timeout --preserve-status -k 5 2 " + program +
                                                 " " + line + " </dev/null");
    expect_documented(outcome, line);
  }
}

}  // namespace
}  // namespace driftless::cli_testing
