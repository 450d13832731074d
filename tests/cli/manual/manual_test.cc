// SPDX-License-Identifier: Apache-2.0
// The manual page and the completions: they have what help has, and shells take them.
#include "driftless/cli/manual/manual.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;

/// What bash offers for the last of `words`.
std::string completed(const std::string& words, int index) {
  const std::string script = "source <(" DRIFTLESS_PROGRAM " manual bash); COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(index) +
                             "; _driftless; echo \"${COMPREPLY[*]}\"";
  return testing::run_program("bash -c '" + script + "'").out;
}

TEST(Completion, BashOffersVerbsFlagsAndFiles) {
  EXPECT_EQ(completed("driftless so", 1), "solve\n");
  EXPECT_EQ(completed("driftless codec e", 2), "encode error\n");
  EXPECT_EQ(completed("driftless data generate --see", 3), "--seed\n");
  EXPECT_EQ(completed("driftless solve --nati", 2), "--native\n");
  EXPECT_EQ(completed("driftless data convert --se", 3), "\n");  // not the flags of "convert"
  EXPECT_EQ(completed("driftless solve --data m", 3), "\n");     // left to the shell's files
  EXPECT_EQ(completed("driftless solve --mode", 2), "\n");       // an earlier name
  EXPECT_EQ(completed("driftless manua", 1), "\n");              // hidden
}

TEST(Manual, EveryFormHasEveryVerbAndFlag) {
  const Outcome help = driftless("eval --help");
  for (const char* form : {"man", "bash", "zsh", "fish"}) {
    const Outcome outcome = driftless(std::string("manual ") + form);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const bool is_man = form == std::string("man");
    for (const std::string name : {"calibration-data", "halting", "weights"}) {
      ASSERT_NE(help.out.find("--" + name), std::string::npos);
      std::string shown;
      for (const char c : name) shown += is_man && c == '-' ? "\\-" : std::string(1, c);
      EXPECT_NE(outcome.out.find(shown), std::string::npos) << form << ": " << name;
    }
    for (const char* verb : {"driftless accumulators", "driftless codec error"})
      EXPECT_NE(outcome.out.find(verb), std::string::npos) << form << ": " << verb;
    EXPECT_EQ(outcome.out.find("driftless manual"), std::string::npos) << form;
  }
  expect_failure(driftless("manual troff"), 2, "expected man, bash, zsh or fish");
  EXPECT_EQ(driftless("--help").out.find("manual"), std::string::npos);
}

cli::VerbText tricky() {
  cli::VerbText program{.name = "p",
                        .summary = "p: it's \\ odd",
                        .footer = "",
                        .places = {},
                        .flags = {},
                        .verbs = {}};
  program.verbs.push_back(
      {.name = "v",
       .summary = "of v",
       .footer = "Example: p v\n",
       .places = {{.names = {"FILE"}, .value = "TEXT", .help = "'quoted'"}},
       .flags = {{.names = {"--a-b", "-a"}, .value = "INT", .help = ".dot\nit's"}},
       .verbs = {}});
  return program;
}

TEST(Manual, QuotesWhatShellsAndRoffWouldRead) {
  const std::string page = cli::man_page(tricky(), "1.2.3");
  EXPECT_NE(page.find("p \\- it's \\e odd\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\\fB\\-\\-a\\-b\\fR, \\fB\\-a\\fR \\fIINT\\fR\n\\&.dot\nit's\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("\n\\&'quoted'\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\"p 1.2.3\""), std::string::npos) << page;
  EXPECT_NE(cli::zsh_completion(tricky()).find("'--a-b:.dot it'\\''s'"), std::string::npos);
  EXPECT_NE(cli::fish_completion(tricky()).find("-l a-b -s a -x -d '.dot it\\'s'"),
            std::string::npos)
      << cli::fish_completion(tricky());
}

}  // namespace
}  // namespace driftless
