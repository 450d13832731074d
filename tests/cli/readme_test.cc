// SPDX-License-Identifier: Apache-2.0
// Every "$ build/release/bin/driftless ..." line of the README runs, and where the README shows
// output, that is what it prints.
#include <algorithm>
#include <array>
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

bool needs_model(const Example& example) {
  constexpr std::array<std::string_view, 3> kVerbs = {"solve ", "ladder ", "report "};
  return std::any_of(kVerbs.begin(), kVerbs.end(),
                     [&](std::string_view verb) { return example.arguments.starts_with(verb); });
}

TEST(Readme, CommandsDoWhatItShows) {
  const auto examples = readme_examples();
  ASSERT_GE(examples.size(), 3u);
  for (const Example& example : examples) {
    if (!cli_testing::kRunsModels && needs_model(example)) continue;
    const auto outcome = testing::run_program(DRIFTLESS_PROGRAM " " + example.arguments);
    EXPECT_EQ(outcome.exit_code, 0) << example.arguments << "\n" << outcome.err;
    if (!example.shown.empty()) {
      EXPECT_EQ(outcome.out, example.shown);
    }
  }
  if (!cli_testing::kRunsModels) GTEST_SKIP() << "all that need no model: " << cli_testing::kRunsNoModels;
}

}  // namespace
}  // namespace driftless
