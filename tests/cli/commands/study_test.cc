// SPDX-License-Identifier: Apache-2.0
// driftless study, ladder and recommend as a user meets them, with a tiny random model.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/base/text/text.h"
#include "driftless/store/checkpoint.h"
#include "driftless/study/record/record.h"

#include "tests/cli/program.h"
#include "tests/cli/tiny_model.h"
#include "tests/simulate/random_model.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using cli_testing::save_tiny_model;
using testing::Outcome;
using testing::TempDir;

const std::filesystem::path kSource =
    std::filesystem::path(DRIFTLESS_MODEL).parent_path().parent_path();

class Study : public ::testing::Test {
 protected:
  Study() { save_tiny_model(model_, 1); }

  /// The flags that name model and boards.
  [[nodiscard]] std::string files() const { return " --model " + model_.string() + data(); }
  [[nodiscard]] static std::string data() {
    return " --data " + (kSource / "models/demo-sudoku.csv").string();
  }
  [[nodiscard]] std::string out(const std::string& name) const {
    return (dir_.path() / name).string();
  }

  /// The sound records of a text, in their order and without their times.
  static std::vector<study::Json> records_in(const std::string& text) {
    std::vector<study::Json> records;
    for (const std::string_view line : split(text, '\n')) {
      if (line.empty()) continue;
      records.push_back(study::Json::parse(line));
      study::require_record(records.back(), "record");
      records.back().erase("timing");
    }
    return records;
  }
  static std::vector<study::Json> records_of(const std::string& path) {
    return records_in(testing::text_of(path));
  }

  TempDir dir_;
  std::filesystem::path model_ = dir_.path() / "tiny.safetensors";
};

// Three groups of rows: a study that can be interrupted between them.
const std::string kThreeGroups =
    "study exponent-rules --limit 10 --batch 4 --threads 1 --set steps=2";

TEST_F(Study, EveryRecipeRunsFromEndToEnd) {
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "recipes/study")) {
    const std::string name = entry.path().stem().string();
    const Outcome outcome = driftless("study " + name + files() +
                                      " --limit 3 --batch 2 --set steps=2"
                                      " --set calibration_boards=2");
    ASSERT_EQ(outcome.exit_code, 0) << name << ": " << outcome.err;
    const std::vector<study::Json> records = records_in(outcome.out);
    ASSERT_FALSE(records.empty()) << name;
    for (size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].at("study"), name);
      EXPECT_EQ(records[i].at("row"), i) << name;
      EXPECT_EQ(records[i].at("n"), 3) << name;
    }
  }
}

/// The recipes of the other systems, each on a tiny model of its kind.
TEST_F(Study, EverySystemRunsItsOwnRecipe) {
  using model::Arch;
  const auto run = [&](const std::string& recipe, const model::ModelConfig& config,
                       const std::string& data, const std::string& more = "") {
    store::save_checkpoint(model_, simulate::testing::random_checkpoint(config, 5));
    const Outcome outcome =
        driftless("study " + recipe + " " + model_.string() + " --data " + data +
                  " --limit 3 --batch 2 --set steps=2"
                  " --set calibration_boards=2" +
                  more);
    ASSERT_EQ(outcome.exit_code, 0) << recipe << ": " << outcome.err;
    for (const study::Json& record : records_in(outcome.out))
      EXPECT_EQ(record.at("n"), 3) << recipe;
  };
  const std::string sudoku = (kSource / "models/demo-sudoku.csv").string();
  model::ModelConfig config = store::load_checkpoint(model_).config;
  config.arch = Arch::TrmUntied;
  run("untied", config, sudoku);
  run("decomposition", config, sudoku);
  config.arch = Arch::TrmStochastic;
  run("stochastic", config, sudoku);
  config.arch = Arch::Eqr;
  run("eqr-breadth", config, sudoku);
  config.arch = Arch::Hrm;
  config.h_layers = 1;
  config.mixer = model::Mixer::Attention;
  config.positions = model::Positions::Rope;
  config.puzzle_emb_len = 1;
  config.puzzle_emb_ndim = 32;
  run("hrm-ladder", config, sudoku);

  config.arch = Arch::Trm;
  config.h_layers = 0;
  config.task = "maze";
  config.vocab_size = 6;
  config.seq_len = 64;
  ASSERT_EQ(driftless("data generate --task maze --side 8 --min-path 8 --count 3 --seed 1 --out " +
                      out("mazes.csv"))
                .exit_code,
            0);
  run("maze-ladder", config, out("mazes.csv"));

  config.task = "arc";
  config.vocab_size = 12;
  config.seq_len = 25;
  config.num_puzzle_identifiers = 3;
  write_file_atomic(out("identifiers.json"), R"(["<blank>", "a", "a|||t1|||0213456789"])");
  write_file_atomic(out("tasks.json"),
                    R"({"a": {"train": [], "test": [{"input": [[1, 2]], "output": [[2, 1]]},)"
                    R"( {"input": [[3]], "output": [[4]]}]}})");
  run("mini-arc-ladder", config, out("tasks.json"),
      " --calibration-may-overlap --calibration-data " + out("tasks.json"));
  expect_failure(driftless("study mini-arc-ladder --limit 3 --model " + model_.string() +
                           " --data " + out("tasks.json")),
                 10, "no generator for arc; expected --calibration-data");
}

TEST_F(Study, RecordsDoNotDependOnThreads) {
  const std::string command = "study fixed-point" + files() +
                              " --limit 5 --batch 3 --set steps=2 --set calibration_boards=2";
  const Outcome one = driftless(command + " --threads 1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(records_in(one.out), records_in(driftless(command + " --threads 2").out));
}

TEST_F(Study, StretchesOfRowsMakeTheRecordsOfTheWhole) {
  const std::string command = "study exponent-rules" + files() + " --limit 3 --set steps=2";
  const std::vector<study::Json> whole = records_in(driftless(command).out);
  std::vector<study::Json> joined = records_in(driftless(command + " --rows 0").out);
  const std::string rest = "1-" + std::to_string(whole.size() - 1);
  for (const study::Json& record : records_in(driftless(command + " --rows " + rest).out))
    joined.push_back(record);
  EXPECT_EQ(joined, whole);
  for (const char* const wrong : {"3-1", "-1", "0-99", "a"})
    expect_failure(driftless(command + " --rows=" + wrong), 10, "FIRST-LAST");
}

TEST_F(Study, AKilledStudyEndsWithTheRecordsOfAnUninterruptedOne) {
  const std::string whole = out("whole.jsonl");
  const std::string killed = out("killed.jsonl");
  ASSERT_EQ(driftless(kThreeGroups + files() + " --out " + whole).exit_code, 0);
  // The shell waits for the first record, then kills.
  testing::run_program("(" DRIFTLESS_PROGRAM " " + kThreeGroups + files() + " --out " + killed +
                       " & until test -s " + killed + "; do :; done; kill -9 $!; wait)");
  const size_t finished = records_of(killed).size();
  EXPECT_GE(finished, 1u);
  EXPECT_LT(finished, 12u) << "the study was over before it was killed";
  const std::string half = testing::text_of(killed);
  const Outcome resumed = driftless(kThreeGroups + files() + " --out " + killed);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(records_of(killed), records_of(whole));
  EXPECT_TRUE(testing::text_of(killed).starts_with(half.substr(0, half.rfind('\n'))))
      << "finished rows were computed again";
  // Once more: nothing left to do, and the table still shows every row.
  const std::string before = testing::text_of(killed);
  const Outcome again = driftless(kThreeGroups + files() + " --out " + killed);
  EXPECT_EQ(testing::text_of(killed), before);
  const std::string table = again.out.substr(0, again.out.find("\n\n") + 1);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 13) << again.out;
}

TEST_F(Study, EndsWithAReportBesideTheRecords) {
  const std::string command = "study decomposition" + files() +
                              " --limit 1 --set steps=1 --set calibration_boards=1 --out ";
  const Outcome outcome = driftless(command + out("records.jsonl"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  if (outcome.err.find("no report") != std::string::npos)
    GTEST_SKIP() << "built without the plotting library";
  EXPECT_NE(outcome.out.find(out("records.html") + ": "), std::string::npos) << outcome.out;
  EXPECT_NE(testing::text_of(out("records.html")).find("decomposition"), std::string::npos);
  // Records that are called .html stay what they are.
  ASSERT_EQ(driftless(command + out("odd.html")).exit_code, 0);
  EXPECT_FALSE(records_of(out("odd.html")).empty());
}

TEST_F(Study, TwoRanksMakeTheRecordsOfOneProcess) {
  const std::string program = DRIFTLESS_MPI_PROGRAM;
  if (program.empty()) GTEST_SKIP() << "built without MPI; install libopenmpi-dev";
  if (testing::run_program("command -v mpirun").exit_code != 0)
    GTEST_SKIP() << "no mpirun; install openmpi-bin";
  const std::string one = out("one.jsonl");
  const std::string two = out("two.jsonl");
  const std::string command =
      "study bias-coherence --limit 7 --batch 2 --threads 1 --set steps=2"
      " --set calibration_boards=2" +
      files();
  ASSERT_EQ(driftless(command + " --out " + one).exit_code, 0);
  // Open MPI leaves allocations behind at its end; one process alone is checked for leaks above.
  const Outcome outcome = testing::run_program(
      "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "mpirun --oversubscribe -n 2 " +
      program + " " + command + " --out " + two);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(records_of(two), records_of(one));
  EXPECT_EQ(records_of(two).size(), 4u);
}

TEST_F(Study, TheProgramForOneMachineSaysWhatMpirunShouldStart) {
  expect_failure(driftless("study decomposition --limit 1 --set calibration_boards=1" + files() +
                               " --out " + out("records.jsonl"),
                           "OMPI_COMM_WORLD_SIZE=2"),
                 13, "driftless-mpi");
}

TEST_F(Study, RefusesAPerturbationBelowTheResolutionOfTheStates) {
  const std::string command = "study fixed-point" + files() +
                              " --limit 2 --set steps=2 --set calibration_boards=2 --dtype ";
  expect_failure(driftless(command + "bf16"), 10,
                 "bfloat16 resolves; got --dtype bf16, expected f32");
  EXPECT_EQ(driftless(command + "f32").exit_code, 0);
}

TEST_F(Study, ListsItsRecipes) {
  const auto list = driftless("study --list");
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_NE(list.out.find("contraction              Contraction versus drift: divergence from the "
                          "float trajectory, step by step.\n"),
            std::string::npos)
      << list.out;
  std::istringstream lines(list.out);
  int64_t recipes = 0;
  for (std::string line; std::getline(lines, line); ++recipes)
    EXPECT_TRUE(line.ends_with('.') || line.ends_with('?')) << line;
  EXPECT_GT(recipes, 20);
  expect_failure(driftless("study --list", "DRIFTLESS_DATA=/nowhere"), 14, "/nowhere");
}

TEST_F(Study, RefusesWhatDoesNotFit) {
  expect_failure(driftless("study granularty" + files()), 10, "did you mean 'granularity'");
  expect_failure(driftless("study granularity" + files() + " --set stepps=2"), 11,
                 "did you mean 'steps'");
  const std::string calibration =
      " --calibration-data " + (kSource / "models/demo-sudoku.csv").string();
  expect_failure(driftless("study calibration-size" + files() + " --limit 2" + calibration), 10,
                 "got 200, expected 1 to 64");
  expect_failure(driftless("study decomposition" + files() + " --limit 64" + calibration), 10,
                 "64 of 64 boards");
  const std::string results = out("results.jsonl");
  const std::string command =
      "study decomposition --limit 1 --set steps=1 --set calibration_boards=1"
      " --out " +
      results;
  ASSERT_EQ(driftless(command + files()).exit_code, 0);
  save_tiny_model(model_, 2);
  expect_failure(driftless(command + files()), 12, "to start afresh, name another --out");
}

TEST_F(Study, AResultsFileThatIsNotOursIsNotTouched) {
  const std::string foreign = out("p.json");
  for (const char* const text : {"{\"precious\": 1}", "precious\n", "one\ntwo"}) {
    write_file_atomic(foreign, std::string_view(text));
    for (const std::string& command :
         {"ladder " + model_.string() + data() + " --limit 1 --steps 1 --schemes none",
          "study granularity --rows 0 --limit 1 --set steps=1" + files()})
      expect_failure(driftless(command + " --out " + foreign), 12, "p.json");
    EXPECT_EQ(testing::text_of(foreign), text);
    EXPECT_FALSE(std::filesystem::exists(out("p.html")));
  }
}

TEST_F(Study, LadderPrintsTablesAndJson) {
  const std::string command = "ladder " + model_.string() + data() +
                              " --limit 4 --steps 2 --calibration-boards 2"
                              " --schemes none int8/tensor/static mxint4,rule=mse int4/tensor:none";
  const Outcome plain = driftless(command);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_NE(plain.out.find("mxint4,rule=mse"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find("4.25 / 4.25"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find("n 4 boards of demo-sudoku.csv, 2 steps"), std::string::npos);
  EXPECT_NE(plain.out.find("static scales: 2 generated boards, seed 1\n"), std::string::npos);
  EXPECT_EQ(plain.out.find('\x1b'), std::string::npos) << "no escapes in a pipe";
  const Outcome markdown = driftless(command + " --markdown");
  EXPECT_TRUE(markdown.out.starts_with("| weights")) << markdown.out;
  const Outcome exported = driftless(command + " --latex " + out("table.tex") + " --csv -");
  EXPECT_TRUE(exported.out.starts_with("weights,activations,")) << exported.out;
  EXPECT_EQ(std::count(exported.out.begin(), exported.out.end(), '\n'), 5) << exported.out;
  EXPECT_NE(testing::text_of(out("table.tex")).find("\\texttt{mxint4,rule=mse}"),
            std::string::npos);
  const study::Json records = study::Json::parse(driftless(command + " --json").out);
  ASSERT_EQ(records.size(), 4u);
  for (const study::Json& record : records) study::require_record(record, "ladder");
  expect_failure(driftless("ladder " + model_.string() + data() + " --schemes int5x"), 10, "int5x");
}

TEST_F(Study, RecommendWritesAPlanThatEvalTakes) {
  const std::string plan = out("plan.json");
  const Outcome outcome = driftless("recommend " + model_.string() + data() +
                                    " --limit 4 --steps 2 --probe-boards 2 --out " + plan);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("L_level.layers.0.mlp.down_proj.weight"), std::string::npos);
  EXPECT_NE(outcome.out.find("bits per weight"), std::string::npos) << outcome.out;
  const Outcome eval = driftless("eval " + model_.string() + data() + " --limit 2 --plan " + plan);
  EXPECT_EQ(eval.exit_code, 0) << eval.err;
  expect_failure(driftless("recommend " + model_.string() + data() +
                           " --limit 2 --steps 1 --choices int4/tensor/static"),
                 10, "static scales");
}

}  // namespace
}  // namespace driftless
