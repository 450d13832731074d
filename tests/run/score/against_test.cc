// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/score/against.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::run {
namespace {

using driftless::testing::expect_error;
using driftless::testing::TempDir;

std::string puzzle(char first) { return first + std::string(80, '.'); }

std::string line(const std::string& question, const std::string& exact, const std::string& steps) {
  return R"({"question": ")" + question + R"(", "exact": )" + exact + R"(, "steps": )" + steps +
         "}\n";
}

class AgainstTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<Earlier> read(const std::string& lines) const {
    const auto path = dir_.path() / "p.jsonl";
    write_file_atomic(path, lines);
    return read_earlier(path, boards_);
  }

  Boards boards_{.task = task::find_task("sudoku"),
                 .examples = task::parse_examples(task::find_task("sudoku"),
                                                  puzzle('1') + "\n" + puzzle('2') + "\n" +
                                                      puzzle('1') + "\n" + puzzle('1') + "\n",
                                                  "boards")};
  TempDir dir_;
};

TEST_F(AgainstTest, BoardsAreFoundByTheirQuestionsAndRepeatedOnesTakeTheirLinesInTurn) {
  const std::vector<Earlier> earlier =
      read(line(puzzle('3'), "true", "1") + line(puzzle('1'), "true", "2") +
           line(puzzle('2'), "false", "3") + line(puzzle('1'), "false", "4"));
  ASSERT_EQ(earlier.size(), 4u);
  const std::vector<int64_t> steps = {2, 3, 4, 4};
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(earlier[i].steps, steps[i]);
    EXPECT_EQ(earlier[i].is_exact, i == 0);
  }
}

TEST_F(AgainstTest, LinesOfAnotherKindAreRefused) {
  const std::string question = puzzle('1');
  for (const std::string& wrong :
       {std::string("{}\n"), std::string("3\n"), line(question, "1", "2"),
        line(question, "true", "-2"), line(question, "true", "2.5"), line(question, "true", "0"),
        line(question, "true", "9223372036854775808"), line(question, "true", "4000000000")})
    expect_error(ErrorCode::BadFile, "p.jsonl:2: got '",
                 [&] { static_cast<void>(read(line(question, "true", "2") + wrong)); });
}

TEST_F(AgainstTest, BoardsThatTheFileLacksAreNamed) {
  expect_error(ErrorCode::InvalidArgument, "lacks board 2 of the data",
               [&] { static_cast<void>(read(line(puzzle('1'), "true", "2"))); });
  const Boards arc{.task = task::find_task("arc")};
  expect_error(ErrorCode::InvalidArgument, "got boards of arc",
               [&] { static_cast<void>(read_earlier(dir_.path() / "p.jsonl", arc)); });
}

}  // namespace
}  // namespace driftless::run
