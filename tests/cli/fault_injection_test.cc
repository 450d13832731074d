// SPDX-License-Identifier: Apache-2.0
// Fails the n-th allocation, open, read, write, sync, rename and thread start of a command, for
// growing n until the command passes unharmed. Each run ends in success or in one line and a code
// that docs/install.md names, its output is whole or absent, its inputs are as they were, and,
// where gcc's leak sanitizer is there, no memory is lost. Of the many allocations a part is tried,
// the more the larger DRIFTLESS_SOAK is.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/faults/jobs.h"
#include "tests/testing/sanitizer.h"

namespace driftless::cli_testing {
namespace {

namespace fs = std::filesystem;

/// Seconds a run, for the soak alone.
void add_slow_commands(std::vector<Job>& all) {
  const std::string model = DRIFTLESS_MODEL;
  const std::string packed = DRIFTLESS_PACKED_MODEL;
  const std::string data = " --data models/demo-sudoku.csv --limit 1 --steps 1 --threads 2 ";
  all.push_back({"recommend",
                 "recommend " + model + data + "--probe-boards 1 --choices mxint8 mxint4 --out "});
  all.push_back({"accumulators", "accumulators " + model + data + "--bits 16 --json "});
  all.push_back({"export", "export c " + packed + " --kernels c --name reasoner "});
  all.push_back({.name = "bench",
                 .arguments = "bench " + packed + " --boards 1 --patience 0 --threads 2 --json ",
                 .varies = true,
                 .forks = true});
}

/// Beside those of jobs(), the verbs that only read.
std::vector<Job> commands() {
  std::vector<Job> all = jobs();
  const std::string model = DRIFTLESS_MODEL;
  const std::string packed = DRIFTLESS_PACKED_MODEL;
  const std::string data = " --data models/demo-sudoku.csv --limit 1 --steps 1 --threads 2 ";
  all.push_back({"simulate", "eval " + model + data + "--predictions "});
  all.push_back({"json", "eval " + packed + data + "--native --json "});
  all.push_back({"solve", "solve --native --steps 1 --json "});
  all.push_back({"formats", "formats --json "});
  all.push_back({"decode", "codec decode --format uint8 --input models/demo-sudoku.csv --out "});
  all.push_back(
      {"encode", "codec encode --format mxint4 --input fuzz/corpus/npy/floats.npy --out "});
  all.push_back({"npy", "convert fuzz/corpus/npy/floats.npy --out "});
  all.push_back({"figure", "report docs/results/ladder-sudoku-small.jsonl --figure ladder --out "});
  all.push_back({"augment",
                 "data augment tests/cli/faults/tasks.json --side 5 --variants 3 --seed 1 --out "});
  all.push_back({"error", "codec error --format int4 --gaussian 100 --seed 1 --json "});
  all.push_back({.name = "info", .arguments = "info " + packed, .prints = true});
  all.push_back(
      {.name = "check", .arguments = "data check models/demo-sudoku.csv", .prints = true});
  all.push_back(
      {.name = "stats", .arguments = "data stats models/demo-sudoku.csv", .prints = true});
  all.push_back({.name = "vectors",
                 .arguments = "vectors generate --count 1 --kinds quantize product",
                 .prints = true});
  all.push_back({.name = "verify",
                 .arguments = "vectors verify tests/cli/faults/vectors.txt",
                 .prints = true});
  all.push_back({.name = "manual", .arguments = "manual bash", .prints = true});
  all.push_back({.name = "web",
                 .arguments = "web --model models/sudoku-4x4-mxint4.safetensors ",
                 .environment = "DRIFTLESS_DATA=tests/cli/faults/data"});
  if (rounds(0) > 0) add_slow_commands(all);
  return all;
}

/// Preloaded: what makes calls fail and, behind it, what looks for leaks, which ends with 99.
constexpr int kLeakExit = 99;
std::string preload(const std::string& fault) {
  const bool is_allocation = fault.rfind("new:", 0) == 0;
  const std::string passed_over =
      is_allocation ? ":print_suppressions=0:suppressions=tests/testing/faults/others.supp" : "";
  return "LSAN_OPTIONS=exitcode=99" + passed_over +
         " LD_PRELOAD='" DRIFTLESS_FAIL_CALLS " " DRIFTLESS_LEAK_CHECK "'";
}

/// Lines but for those of progress, "2/3", which only slow runs have.
int64_t line_count(const std::string& text) {
  static const std::regex progress(" [0-9]+/[0-9]+ ");
  std::istringstream lines(text);
  int64_t count = 0;
  for (std::string line; std::getline(lines, line);)
    if (!std::regex_search(line, progress)) ++count;
  return count;
}

/// What two runs have in common: of folders their files, of measured figures that they are whole.
std::vector<std::string> comparable_output(const Job& job, const fs::path& out) {
  if (!fs::is_directory(out)) {
    const std::string text = testing::text_of(out);
    if (!job.varies) return comparable_lines(text);
    return {Json::accept(text) ? "JSON" : text};
  }
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(out))
    if (entry.is_regular_file())
      files.push_back(fs::relative(entry.path(), out).string() + testing::text_of(entry.path()));
  std::sort(files.begin(), files.end());
  return files;
}

/// When the files that a command names were last written to.
std::map<std::string, fs::file_time_type> times_of_inputs(const std::string& arguments) {
  std::map<std::string, fs::file_time_type> times;
  std::istringstream words(arguments);
  for (std::string word; words >> word;)
    if (fs::is_regular_file(word)) times[word] = fs::last_write_time(word);
  return times;
}

class FaultInjection : public ::testing::TestWithParam<Job> {
 protected:
  /// What a command that only prints has printed whole is its output.
  static Outcome run_into(const fs::path& out, const std::string& fault = "") {
    const Job& job = GetParam();
    const std::string environment = job.environment + " " + fault;
    if (!job.prints) return driftless(job.arguments + out.string(), environment);
    Outcome outcome = driftless(job.arguments, environment);
    if (outcome.exit_code == 0) std::ofstream(out, std::ios::binary) << outcome.out;
    return outcome;
  }

  /// Whether the call came. Looks at how the run ended.
  bool run_with(const std::string& fault) {
    ++cases_;
    const testing::TempDir dir;
    const fs::path out = dir.path() / "out.svg";
    const fs::path mark = dir.path() / "mark";
    const Outcome outcome =
        run_into(out, "DRIFTLESS_FAIL=" + fault + " DRIFTLESS_FAILED=" + mark.string() + " " +
                          preload(fault));
    const bool came = fs::remove(mark);
    EXPECT_NE(outcome.exit_code, kLeakExit) << fault << ": memory is lost: " << outcome.err;
    const bool is_known =
        outcome.exit_code == 0 || (outcome.exit_code >= 10 && outcome.exit_code <= 16);
    EXPECT_TRUE(is_known) << fault << ": " << outcome.exit_code << " " << outcome.err;
    if (outcome.exit_code != 0) {
      EXPECT_NE(outcome.err.find("driftless: "), std::string::npos) << fault << outcome.err;
      EXPECT_LE(line_count(outcome.err), most_lines_ + 1) << fault << ": " << outcome.err;
    }
    expect_output(dir, out, fault, outcome.exit_code == 0);
    EXPECT_TRUE(times_of_inputs(GetParam().arguments) == inputs_) << fault << ": wrote to an input";
    return came;
  }

  /// Whole or absent; of files of records, a beginning.
  void expect_output(const testing::TempDir& dir, const fs::path& out, const std::string& fault,
                     bool is_success) const {
    const bool has_output = fs::exists(out);
    EXPECT_TRUE(has_output || !is_success) << fault;
    const auto lines = comparable_output(GetParam(), out);
    if (GetParam().adds_lines && !is_success) {
      EXPECT_TRUE(lines.size() <= expected_.size() &&
                  std::equal(lines.begin(), lines.end(), expected_.begin()))
          << fault;
      EXPECT_LE(dir.entry_count(), entries_) << fault << ": something is left behind";
      return;
    }
    if (has_output) {
      EXPECT_EQ(lines, expected_) << fault;
    }
    EXPECT_LE(dir.entry_count(), has_output ? entries_ : 0)
        << fault << ": something is left behind";
  }

  void SetUp() override {
    if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer comes before every other library";
    const testing::TempDir dir;
    const fs::path out = dir.path() / "out.svg";
    inputs_ = times_of_inputs(GetParam().arguments);
    const Outcome outcome = run_into(out);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    expected_ = comparable_output(GetParam(), out);
    entries_ = dir.entry_count();
    most_lines_ = line_count(outcome.err);
  }

  void TearDown() override { std::printf("cases: %lld\n", static_cast<long long>(cases_)); }

  std::vector<std::string> expected_;
  std::map<std::string, fs::file_time_type> inputs_;
  int64_t entries_ = 0;
  int64_t most_lines_ = 0;  // of an undisturbed run
  int64_t cases_ = 0;
};

/// The next call to fail: every one, but of the many allocations only some.
int64_t next_call(const std::string& kind, int64_t n) {
  if (kind != "new") return n + 1;
  const int64_t soak = rounds(0);
  return soak == 0 ? 4 * n + 1 : n + std::max<int64_t>(1, 8 * n / soak);
}

TEST_P(FaultInjection, EndsInSuccessOrOneLine) {
  EXPECT_TRUE(run_with("new:1")) << "nothing fails";
  for (const std::string kind :
       {"open", "read", "write", "fsync", "rename", "mkostemp", "thread", "new"})
    for (int64_t n = 1; n < 100000000; n = next_call(kind, n))
      if (!run_with(kind + ":" + std::to_string(n)) || HasFailure()) break;
}

TEST_P(FaultInjection, StartsNoProgramAndOpensNoConnection) {
  EXPECT_EQ(run_with("start:1"), GetParam().forks);
  EXPECT_FALSE(run_with("socket:1"));
}

/// JSON's destructors and CLI11 allocate where they may not throw; one in so many allocations finds
/// them.
TEST(Allocations, ThatMayNotThrowEndInOneLine) {
  if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer comes before every other library";
  const testing::TempDir dir;
  const fs::path mark = dir.path() / "mark";
  for (int64_t n = 1;; n += 37) {
    const std::string fault = "new:" + std::to_string(n);
    const Outcome outcome = driftless(
        "formats --json -",
        "DRIFTLESS_FAIL=" + fault + " DRIFTLESS_FAILED=" + mark.string() + " " + preload(fault));
    if (outcome.exit_code != 0) {
      ASSERT_EQ(outcome.exit_code, 16) << fault << ": " << outcome.err;
      ASSERT_EQ(outcome.err, "driftless: out of memory\n") << fault;
    }
    if (fs::remove(mark)) continue;
    EXPECT_EQ(outcome.exit_code, 0) << "nothing fails";
    EXPECT_GT(n, 5000) << "few allocations failed";
    return;
  }
}

/// The second sync of a command with one output is that of the folder, without which a power cut
/// takes the new name.
TEST(NewNames, AreSyncedWithTheirFolder) {
  if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer comes before every other library";
  const testing::TempDir dir;
  const fs::path out = dir.path() / "out.safetensors";
  const std::string convert = "convert " DRIFTLESS_MODEL " --out " + out.string();
  const std::string preload = " LD_PRELOAD=" DRIFTLESS_FAIL_CALLS;
  expect_failure(driftless(convert, "DRIFTLESS_FAIL=fsync:2" + preload), 14,
                 "its folder cannot be synced");
  EXPECT_TRUE(fs::exists(out));
  EXPECT_EQ(driftless(convert, "DRIFTLESS_FAIL=fsync:3" + preload).exit_code, 0);
}

/// Of several outputs, all or none.
TEST(NewNames, OfAnExportThatFailsAreTakenBack) {
  if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer comes before every other library";
  const testing::TempDir dir;
  const std::string folder = (dir.path() / "made").string();
  expect_failure(
      driftless("export c " DRIFTLESS_PACKED_MODEL " --kernels c --name reasoner " + folder,
                "DRIFTLESS_FAIL=fsync:2 LD_PRELOAD=" DRIFTLESS_FAIL_CALLS),
      14, "its folder cannot be synced");
  EXPECT_EQ(dir.entry_count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Of, FaultInjection, ::testing::ValuesIn(commands()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace driftless::cli_testing
