// SPDX-License-Identifier: Apache-2.0
// The figures of the documents are those that their commands make of the committed records.
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace driftless {
namespace {

namespace fs = std::filesystem;
using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::text_of;

const fs::path kFolder = "docs/figures";

/// Every command of the list, as what follows "driftless", with the file that it writes.
std::vector<std::pair<std::string, fs::path>> commands() {
  const std::string program = "driftless ";
  const std::string out = " --out ";
  std::istringstream lines(text_of(kFolder / "commands.sh"));
  std::vector<std::pair<std::string, fs::path>> found;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(program)) continue;
    const size_t end = line.rfind(out);
    found.emplace_back(line.substr(program.size(), end - program.size()),
                       line.substr(end + out.size()));
  }
  return found;
}

TEST(Figures, AreWhatTheirCommandsMake) {
  std::set<fs::path> made;
  for (const auto& [command, file] : commands()) {
    const Outcome outcome = driftless(command + " --out -");
    ASSERT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out == text_of(file))
        << file << " is not what it was; run sh docs/figures/commands.sh";
    made.insert(file);
  }
  EXPECT_GT(made.size(), 20U);
  for (const auto& entry : fs::directory_iterator(kFolder))
    EXPECT_TRUE(entry.path().extension() != ".svg" || made.contains(entry.path()))
        << entry.path() << ": no command makes it";
}

TEST(Figures, WrongNamesAndRecordsAreSaid) {
  const std::string qat = "report docs/results/qat.jsonl --out - --figure ";
  expect_failure(driftless(qat + "quat"), 10, "did you mean 'qat'");
  expect_failure(driftless(qat + "dose"), 10, "expected dose-response");
  expect_failure(driftless("report docs/results/qat.jsonl --out - --schemes mxint4"), 2,
                 "--figure");
}

}  // namespace
}  // namespace driftless
