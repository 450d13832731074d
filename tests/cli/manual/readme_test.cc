// SPDX-License-Identifier: Apache-2.0
// Every "$ build/release/bin/driftless ..." line of the README runs, and where the README shows
// output, that is what it prints.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace driftless {
namespace {

struct Example {
  std::string arguments;
  std::string shown;  ///< the output in the README; may be empty
};

std::vector<Example> readme_examples() {
  const std::string prompt = "$ build/release/bin/driftless ";
  std::ifstream readme(DRIFTLESS_README);
  std::vector<Example> examples;
  bool in_output = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with(prompt)) {
      examples.push_back({line.substr(prompt.size()), ""});
      in_output = true;
    } else if (line.starts_with("```")) {
      in_output = false;
    } else if (in_output) {
      examples.back().shown += line + "\n";
    }
  }
  return examples;
}

/// The command with its files of /tmp in a folder of the test's own.
std::string in_folder(std::string arguments, const std::filesystem::path& folder) {
  constexpr std::string_view kTemporary = "/tmp/";
  for (size_t at = 0; (at = arguments.find(kTemporary, at)) != std::string::npos;) {
    arguments.replace(at, kTemporary.size(), folder.string() + "/");
    at += folder.string().size();
  }
  return arguments;
}

TEST(Readme, CommandsDoWhatItShows) {
  const auto examples = readme_examples();
  ASSERT_GE(examples.size(), 3u);
  const std::string root = std::filesystem::path(DRIFTLESS_README).parent_path().string();
  const testing::TempDir folder;
  for (const Example& example : examples) {
    const auto outcome = testing::run_program("cd " + root + " && " DRIFTLESS_PROGRAM " " +
                                              in_folder(example.arguments, folder.path()));
    EXPECT_EQ(outcome.exit_code, 0) << example.arguments << "\n" << outcome.err;
    if (!example.shown.empty()) {
      EXPECT_EQ(outcome.out, example.shown);
    }
  }
}

}  // namespace
}  // namespace driftless
