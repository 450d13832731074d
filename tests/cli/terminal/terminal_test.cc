// SPDX-License-Identifier: Apache-2.0
// What a user at a terminal sees of solve and eval.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/cli/terminal/progress.h"

#include "tests/cli/program.h"
#include "tests/cli/tiny_model.h"
#include "tests/testing/run_in_terminal.h"

namespace driftless {
namespace {

using testing::run_in_terminal;
using testing::screen_of;
using testing::TerminalOptions;
using testing::TerminalRun;

const std::string kHardBoard =
    "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4.";
const std::string kUtf8 = "TERM=xterm-256color LC_ALL=C.UTF-8 NO_COLOR= ";

int64_t count(const std::string& text, const std::string& word) {
  int64_t times = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++times;
  return times;
}

TerminalRun solve(const std::string& environment, const std::string& flags,
                  const TerminalOptions& options = {}) {
  return run_in_terminal(environment + DRIFTLESS_PROGRAM " solve " + flags, options);
}

using SolveAtATerminal = testing::TerminalTest;

TEST_F(SolveAtATerminal, RefinesOnePictureInPlace) {
  const TerminalRun run = solve(kUtf8, kHardBoard);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto screen = screen_of(run.output);
  ASSERT_EQ(screen.size(), 16u) << "13 lines of board, status, verdict, and the cursor's line";
  EXPECT_EQ(screen[0], "╭───────┬───────┬───────╮");
  EXPECT_EQ(screen[1], "│ 3 4 6 │ 8 1 9 │ 5 7 2 │");
  EXPECT_EQ(screen[12], "╰───────┴───────┴───────╯");
  EXPECT_TRUE(screen[13].starts_with("step ")) << screen[13];
  EXPECT_TRUE(screen[14].starts_with("solved in ")) << screen[14];
  EXPECT_EQ(screen[15], "");
  EXPECT_GE(count(run.output, "╭"), 3) << "the question, at least one step, and the end";
  EXPECT_NE(run.output.find("\x1b[1m3\x1b[0m"), std::string::npos) << "clues are bold";
  EXPECT_NE(run.output.find("\x1b[33m4\x1b[0m"), std::string::npos) << "changed cells are yellow";
  EXPECT_NE(run.output.find("\x1b[32m4\x1b[0m"), std::string::npos) << "right cells end green";
}

TEST_F(SolveAtATerminal, KeepsTheLivePictureWithoutColor) {
  for (const auto& [environment, flags] :
       {std::pair(kUtf8, "--no-color " + kHardBoard), std::pair(kUtf8 + "NO_COLOR=1 ", kHardBoard),
        std::pair(std::string("TERM=vt100 LC_ALL=C "), kHardBoard)}) {
    const TerminalRun run = solve(environment, flags);
    EXPECT_EQ(run.output.find("\x1b[1m"), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("\x1b[3"), std::string::npos) << run.output;
    const auto screen = screen_of(run.output);
    ASSERT_EQ(screen.size(), 14u) << run.output;
    EXPECT_EQ(screen[0], "3 4 6 | 8 1 9 | 5 7 2");
    EXPECT_EQ(screen[3], "------+-------+------");
  }
}

TEST_F(SolveAtATerminal, AppendsLinesWhereAPictureCannotBeRedrawn) {
  for (const auto& [environment, options] :
       {std::pair(kUtf8, TerminalOptions{.rows = 12}),
        std::pair(kUtf8, TerminalOptions{.columns = 40}),
        std::pair(std::string("TERM=dumb LC_ALL=C.UTF-8 "), TerminalOptions{})}) {
    const TerminalRun run = solve(environment, kHardBoard, options);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.output.find('\x1b'), std::string::npos) << run.output;
    EXPECT_TRUE(run.output.starts_with("step 1 ")) << run.output;
  }
}

TEST_F(SolveAtATerminal, ManyBoardsGetATitleEach) {
  const testing::TempDir dir;
  write_file_atomic(dir.path() / "boards", kHardBoard + "\n" + kHardBoard + "\n");
  const auto screen =
      screen_of(solve(kUtf8, "--steps 1 --data " + (dir.path() / "boards").string()).output);
  EXPECT_EQ(screen.at(0), "board 1 of 2");
  EXPECT_EQ(screen.at(16), "board 2 of 2");
}

class EvalAtATerminal : public testing::TerminalTest {
 protected:
  EvalAtATerminal() {
    std::string boards;
    for (int i = 0; i < 40; ++i) boards += kHardBoard + "\n";
    write_file_atomic(dir_.path() / "boards", boards);
  }
  std::string command(const std::string& flags) const {
    return DRIFTLESS_PROGRAM " eval " DRIFTLESS_MODEL " --data " +
           (dir_.path() / "boards").string() + " " + flags;
  }
  testing::TempDir dir_;
};

TEST_F(EvalAtATerminal, ShowsProgressAndTakesItAway) {
  const TerminalRun run = run_in_terminal(command("--limit 9 --steps 2"), {});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("[........................] 0/9"), std::string::npos) << run.output;
  const auto screen = screen_of(run.output);
  ASSERT_EQ(screen.size(), 6u) << run.output;
  EXPECT_TRUE(screen[0].starts_with("scheme ")) << screen[0];
}

TEST_F(EvalAtATerminal, CtrlCSaysWhereItStoppedAndWritesNothing) {
  const auto predictions = dir_.path() / "p.jsonl";
  const auto result = dir_.path() / "r.json";
  const auto model = dir_.path() / "model.safetensors";
  cli_testing::save_tiny_model(model, 1);  // whose steps end within a second on any machine
  const TerminalRun run =
      run_in_terminal(DRIFTLESS_PROGRAM " eval " + model.string() + " --steps 1000000 --data " +
                          (dir_.path() / "boards").string() + " --predictions " +
                          predictions.string() + " --json " + result.string(),
                      {.interrupt_at = "0/40"});
  EXPECT_EQ(run.exit_code, 130) << run.output;
  EXPECT_NE(run.output.find("driftless: interrupted after "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find(" of 40 boards"), std::string::npos) << run.output;
  EXPECT_EQ(dir_.entry_count(), 2) << "only the boards and the model";
}

TEST_F(EvalAtATerminal, CtrlCEndsCalibrationToo) {
  const TerminalRun run =
      run_in_terminal(command("--acts int8/tensor/static --calibration-boards 40 "
                              "--calibration-may-overlap --calibration-data " +
                              (dir_.path() / "boards").string()),
                      {.interrupt_at = "calibrating  [........................] 0/40"});
  EXPECT_EQ(run.exit_code, 130) << run.output;
  EXPECT_NE(run.output.find("driftless: interrupted"), std::string::npos) << run.output;
}

using GenerateAtATerminal = testing::TerminalTest;

TEST_F(GenerateAtATerminal, CtrlCEndsWhatFindsNothing) {
  const testing::TempDir dir;
  const TerminalRun run = run_in_terminal(
      DRIFTLESS_PROGRAM
          " data generate --count 5 --seed 1 --min-rating 1000000 --tries 1000000000 "
          "--out " +
          (dir.path() / "boards.csv").string(),
      {.interrupt_at = "generating"});
  EXPECT_EQ(run.exit_code, 130) << run.output;
  EXPECT_NE(run.output.find("interrupted after 0 of 5 boards; nothing was written"),
            std::string::npos)
      << run.output;
  EXPECT_EQ(dir.entry_count(), 0);
}

using LadderAtATerminal = testing::TerminalTest;

TEST_F(LadderAtATerminal, IsColoredUnlessAskedNot) {
  const std::string ladder =
      DRIFTLESS_PROGRAM " ladder " DRIFTLESS_MODEL
                        " --limit 1 --steps 1 --schemes none mxint4 --data " +
      (std::filesystem::path(DRIFTLESS_MODEL).parent_path() / "demo-sudoku.csv").string();
  const std::string bold = "\x1b[1m";
  const TerminalRun colored = run_in_terminal(kUtf8 + ladder, {.columns = 200});
  EXPECT_EQ(colored.exit_code, 0) << colored.output;
  EXPECT_NE(colored.output.find(bold), std::string::npos) << colored.output;
  EXPECT_NE(colored.output.find("ladder"), std::string::npos) << "the progress line's phase";
  for (const std::string& plain :
       {"NO_COLOR=1 TERM=xterm " + ladder, kUtf8 + ladder + " --no-color", "TERM=dumb " + ladder})
    EXPECT_EQ(run_in_terminal(plain, {.columns = 200}).output.find(bold), std::string::npos)
        << plain;
}

std::string progress_text(const cli::ProgressStyle& asked, int64_t total) {
  const testing::TempDir dir;
  cli::ProgressStyle style = asked;
  style.stream = std::fopen((dir.path() / "text").c_str(), "w");
  {
    cli::Progress progress("evaluating", total, style);
    progress.show(1, "1 exact  mxint4");
    progress.show(2, "2 exact  mxint4");
  }
  std::fclose(style.stream);
  return testing::text_of(dir.path() / "text");
}

TEST(Progress, NamesPhaseSchemeAndTimeLeft) {
  using std::chrono::milliseconds;
  EXPECT_EQ(progress_text({.is_live = false, .interval = milliseconds(0)}, 2),
            "driftless: evaluating  1/2  0 s left  1 exact  mxint4\n"
            "driftless: evaluating  2/2  2 exact  mxint4\n");
  EXPECT_EQ(progress_text({.is_live = false, .interval = milliseconds(60'000)}, 2), "")
      << "outside a terminal only long work speaks";
  EXPECT_EQ(progress_text({.is_live = false, .interval = milliseconds(0)}, 0),
            "driftless: evaluating  1 exact  mxint4\n"
            "driftless: evaluating  2 exact  mxint4\n");
  EXPECT_EQ(progress_text({.is_live = true, .columns = 30, .interval = milliseconds(0)}, 2),
            "\revaluating  [................\x1b[K"
            "\revaluating  [############....\x1b[K"
            "\revaluating  [################\x1b[K\r\x1b[K")
      << "cut to fit, and taken away";
}

TEST(Progress, TellsDurations) {
  EXPECT_EQ(cli::duration_text(0.2), "0 s");
  EXPECT_EQ(cli::duration_text(59.4), "59 s");
  EXPECT_EQ(cli::duration_text(200), "3 min 20 s");
  EXPECT_EQ(cli::duration_text(7520), "2 h 5 min");
}

}  // namespace
}  // namespace driftless
