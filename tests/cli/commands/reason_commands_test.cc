// SPDX-License-Identifier: Apache-2.0
// driftless eval and driftless solve as a user meets them, with the bundled model.
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using cli_testing::kBoard;
using testing::Outcome;
using testing::TempDir;

TEST(Solve, ShowsEveryStepAndTheSolution) {
  const Outcome outcome = driftless("solve " + kBoard);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("step 1 ")) << outcome.out;
  EXPECT_NE(outcome.out.find("------+-------+------"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("solved in"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "no escapes in a pipe";
}

TEST(Solve, PrintsJson) {
  const Outcome outcome = driftless("solve --json " + kBoard);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto record = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(record.at("question"), kBoard);
  EXPECT_EQ(record.at("solved"), true);
  EXPECT_EQ(record.at("steps").back().at("prediction"), record.at("prediction"));
  const std::string prediction = record.at("prediction");
  for (size_t cell = 0; cell < kBoard.size(); ++cell)
    EXPECT_TRUE(kBoard[cell] == '.' || prediction[cell] == kBoard[cell]) << cell;
}

TEST(Solve, WarnsOfSeveralSolutionsAndStillRuns) {
  const Outcome outcome = driftless("solve --steps 1 " + std::string(81, '.'));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("several solutions"), std::string::npos) << outcome.err;
}

TEST(Solve, RejectsBadBoards) {
  expect_failure(driftless("solve --dtype fp16 " + kBoard), 2, "expected one of f32, bf16");
  expect_failure(driftless("solve 123"), 10, "81");
  expect_failure(driftless("solve " + std::string(81, 'x')), 10, "x");
  expect_failure(driftless("solve 11" + std::string(79, '.')), 10, "contradictory");
  expect_failure(driftless("solve --data /nowhere"), 14, "/nowhere");
  expect_failure(driftless("solve /nowhere"), 14, "/nowhere");
}

class Eval : public ::testing::Test {
 protected:
  Eval() { write_file_atomic(data(), kBoard + "\n" + kBoard + "\n" + kBoard + "\n"); }
  std::string file(const char* name) const { return (dir_.path() / name).string(); }
  std::string data() const { return file("boards.txt"); }
  Outcome eval(const std::string& flags) const {
    return driftless("eval " DRIFTLESS_MODEL " --data " + data() + " " + flags);
  }
  TempDir dir_;
};

TEST_F(Eval, WritesPredictionsAndResult) {
  const Outcome outcome = eval("--limit 2 --halting halt --threads 2 --predictions " +
                               file("p.jsonl") + " --json " + file("r.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "no progress bar in a pipe";
  EXPECT_NE(outcome.out.find("exact      100.00 %"), std::string::npos) << outcome.out;
  const auto result = nlohmann::json::parse(testing::text_of(file("r.json")));
  EXPECT_EQ(result.at("exact").at("hits"), 2);
  EXPECT_EQ(result.at("cells").at("n"), 2);
  EXPECT_EQ(result.at("cells").at("share"), 1);
  EXPECT_LT(result.at("mean_steps"), 16);
  std::istringstream lines(testing::text_of(file("p.jsonl")));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto record = nlohmann::json::parse(line);
    EXPECT_EQ(record.size(), 5u);
    EXPECT_EQ(record.at("question"), kBoard);
    EXPECT_EQ(record.at("exact"), true);
    EXPECT_EQ(record.at("steps"), result.at("mean_steps"));
    EXPECT_GT(record.at("halt_logit"), 0);
  }
  EXPECT_EQ(count, 2);
}

// The earlier one was wrong, after twice the steps.
TEST_F(Eval, SaysWhatWasLostAndGainedAgainstAnEarlierOne) {
  const auto earlier = [&](const std::string& question) {
    write_file_atomic(file("p.jsonl"),
                      R"({"question": ")" + question + R"(", "exact": false, "steps": 4})" + "\n");
  };
  earlier(kBoard);
  const std::string flags =
      "--limit 1 --steps 2 --json " + file("r.json") + " --against " + file("p.jsonl");
  const Outcome outcome = eval(flags);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("0 lost, 1 gained, p 1; 0.500 times the steps"), std::string::npos)
      << outcome.out;
  const auto paired = nlohmann::json::parse(testing::text_of(file("r.json"))).at("paired");
  EXPECT_EQ(paired.at("gained"), 1);
  EXPECT_EQ(paired.at("difference"), 1);
  EXPECT_EQ(paired.at("steps_ratio"), 0.5);
  earlier("....");
  expect_failure(eval(flags), 10, "lacks board 1 of the data");
  write_file_atomic(file("p.jsonl"), std::string("{}\n"));
  expect_failure(eval(flags), 12, "p.jsonl:1: got '{}', expected a line of eval --predictions");
}

TEST_F(Eval, RunsInBf16) {
  const Outcome outcome = eval("--limit 1 --halting halt --dtype bf16 --json " + file("r.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("bf16)"), std::string::npos) << outcome.out;
  const auto result = nlohmann::json::parse(testing::text_of(file("r.json")));
  EXPECT_EQ(result.at("dtype"), "bf16");
  EXPECT_EQ(result.at("exact").at("hits"), 1);
}

TEST_F(Eval, RejectsBadInput) {
  expect_failure(eval("--dtype int8"), 2, "'int8', expected one of f32, bf16");
  expect_failure(eval("--halting never"), 2, "never");
  expect_failure(eval("--threads 0"), 2, "--threads: got '0'");
  expect_failure(eval("--steps 0"), 2, "--steps");
  expect_failure(eval("--submission " + file("s.json")), 10, "for ARC models only");
  expect_failure(eval("--predictions /nowhere/p.jsonl"), 14, "/nowhere/p.jsonl");
  expect_failure(eval("--json " + dir_.path().string()), 14, "got a folder");
  write_file_atomic(data(), std::string(16, '.') + "\n");
  expect_failure(eval(""), 12, "16 cells, expected 81");
  write_file_atomic(data(), std::string("12\n"));
  expect_failure(eval(""), 12, "boards.txt");
}

TEST(Bench, PrintsRatesAndGoals) {
  const TempDir dir;
  const std::string json = (dir.path() / "bench.json").string();
  const Outcome outcome =
      driftless("bench --rounds 1 --batch 2 --threads 1 --boards 1 --patience 0 --json " + json);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* line :
       {"f32 matmuls alone, batch 2", "f32 steps, batch 1", "bf16 steps, batch 2",
        "native mxint4 steps, batch 1", "native int8 steps, batch 2", "machine: ", "D512 gate_up",
        "bf16 steps / f32 steps", "memory beside the weights", "boards/s"})
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << "\n" << outcome.out;
  const auto result = nlohmann::json::parse(testing::text_of(json));
  EXPECT_TRUE(result.at("calm").at("is_calm").is_boolean());
  for (const char* list : {"peaks", "gemm", "step"}) {
    ASSERT_FALSE(result.at(list).empty()) << list;
    for (const auto& row : result.at(list)) {
      EXPECT_TRUE(row.contains(list == std::string("step") ? "path" : "kernel")) << row;
      EXPECT_EQ(row.at("threads"), 1);
      EXPECT_GT(row.at("gflops"), 0);
      EXPECT_GT(row.at("share_of_int8_peak"), 0);
      EXPECT_TRUE(row.contains("ratio_to_f32") || list == std::string("peaks")) << row;
    }
  }
  for (const auto& row : result.at("gemm")) EXPECT_EQ(row.at("shape").size(), 3u);
  for (const auto& row : result.at("step")) {
    EXPECT_EQ(row.at("d"), 256);
    if (row.at("path") == "f32") {
      EXPECT_EQ(row.at("ratio_to_f32"), 1);
    }
  }
  expect_failure(driftless("bench --json /nowhere/x.json"), 14, "/nowhere");
  expect_failure(driftless("bench --batch 0"), 10, "slots; got 0");
}

}  // namespace
}  // namespace driftless
