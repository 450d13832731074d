// SPDX-License-Identifier: Apache-2.0
// No run destroys what it reads or writes one file twice, and what cannot be printed is an error.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "driftless/base/files/file.h"

#include "tests/cli/program.h"
#include "tests/cli/tiny_model.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::run_program;
using testing::TempDir;
using testing::text_of;

constexpr const char* kPrecious = "precious";

class Outputs : public ::testing::Test {
 protected:
  Outputs() {
    for (const char* name : {"in", "other"}) write_file_atomic(dir_.path() / name, kPrecious);
    std::filesystem::create_symlink("in", dir_.path() / "link");
    std::filesystem::create_hard_link(dir_.path() / "in", dir_.path() / "twin");
  }

  [[nodiscard]] std::string file(const std::string& name) const {
    return (dir_.path() / name).string();
  }
  /// The command with files of the folder for @names.
  [[nodiscard]] std::string with_files(std::string command) const {
    for (size_t at = 0; (at = command.find('@')) != std::string::npos;)
      command.replace(at, 1, file(""));
    return command;
  }
  /// The output is refused and everything is as it was.
  void expect_refused(const std::string& command, const std::string& flag,
                      const std::string& reason) const {
    SCOPED_TRACE(command);
    const int64_t entries = dir_.entry_count();
    const Outcome outcome = driftless(with_files(command));
    expect_failure(outcome, 10, flag + ": " + reason);
    for (const char* name : {"in", "other", "link", "twin"})
      EXPECT_EQ(text_of(file(name)), kPrecious);
    EXPECT_EQ(dir_.entry_count(), entries);
  }

  TempDir dir_;
};

struct Command {
  const char* text;    // @in is the input that OUT names again
  const char* output;  // the argument that says so
  const char* input;
};

const std::vector<Command> kCommands = {
    {"quantize @in OUT --weights mxint4", "--out", "MODEL"},
    {"quantize @other OUT --plan @in", "--out", "--plan"},
    {"quantize @other OUT --weights int8 --calibration-data @in", "--out", "--calibration-data"},
    {"convert @in OUT", "--out", "IN"},
    {"report @other @in --out OUT", "--out", "results"},
    {"eval @in --data @other --predictions OUT", "--predictions", "model"},
    {"eval @other --data @in --predictions OUT", "--predictions", "--data"},
    {"eval @other --data @in --json OUT", "--json", "--data"},
    {"eval @other --data @in --submission OUT", "--submission", "--data"},
    {"eval @other --data @other --against @in --predictions OUT", "--predictions", "--against"},
    {"eval @other --data @other --identifiers @in --json OUT", "--json", "--identifiers"},
    {"eval @other --data @other --plan @in --json OUT", "--json", "--plan"},
    {"ladder @in --data @other --out OUT", "--out", "model"},
    {"ladder @other --data @in --out OUT", "--out", "--data"},
    {"ladder @other --data @in --csv OUT", "--csv", "--data"},
    {"ladder @in --data @other --latex OUT", "--latex", "model"},
    {"ladder @other --source @in --data @other --out OUT", "--out", "--source"},
    {"ladder @other --start @in --data @other --out OUT", "--out", "--start"},
    {"ladder @other --data @other --calibration-data @in --out OUT", "--out", "--calibration-data"},
    {"study @in --data @other --out OUT", "--out", "recipe"},
    {"study granularity --data @in --out OUT", "--out", "--data"},
    {"study granularity @in --data @other --out OUT", "--out", "model"},
    {"recommend @in --data @other --out OUT", "--out", "model"},
    {"recommend @other --data @in --out OUT", "--out", "--data"},
    {"trace @in --data @other --out OUT", "--out", "model"},
    {"trace @other --data @in --out OUT", "--out", "--data"},
    {"bench @in --json OUT", "--json", "model"},
    {"bench --data @in --json OUT", "--json", "--data"},
    {"accumulators @in --data @other --json OUT", "--json", "model"},
    {"accumulators @other --data @in --json OUT", "--json", "--data"},
    {"codec encode --format int4 --input @in --out OUT", "--out", "--input"},
    {"codec decode --format int4 --input @in --out OUT", "--out", "--input"},
    {"data convert @in --out OUT", "--out", "IN"},
    {"train widen @in --out OUT", "--out", "WEIGHTS"},
    {"train narrow @in --width 8 --out OUT", "--out", "WEIGHTS"},
    {"train travel @in --out OUT", "--out", "STATE"},
    {"export onnx @in OUT", "OUT", "MODEL"},
    {"web OUT --model @in", "out", "--model"}};

TEST_F(Outputs, ThatAreInputsAreRefusedThroughAnyLink) {
  for (const Command& command : kCommands) {
    for (const char* out : {"@in", "@link", "@twin", "@./in"}) {
      std::string text = command.text;
      text.replace(text.find("OUT"), 3, out);
      expect_refused(text, command.output, std::string(command.input) + " reads that file");
    }
  }
}

TEST_F(Outputs, ThatAreOneFileAreRefused) {
  std::filesystem::create_symlink("new", file("dangling"));
  std::filesystem::create_directory_symlink(".", file("here"));
  for (const std::string pair :
       {"--predictions @new --json @new", "--predictions @in --json @twin",
        "--predictions @in --json @link", "--predictions @dangling --json @new",
        "--predictions @new --json @here/new"})
    expect_refused("eval @other --data @other " + pair, "--predictions",
                   "--json writes that file too");
}

TEST_F(Outputs, ThatLieInAFolderOfInputsAreRefused) {
  std::filesystem::create_directories(file("set/test"));
  std::filesystem::create_hard_link(file("in"), file("set/test/all__inputs.npy"));
  std::filesystem::create_directory(file("linked"));
  std::filesystem::create_directory_symlink("../set/test", file("linked/test"));
  for (const char* set : {"@set", "@linked"})
    for (const char* out : {"@set/test/all__inputs.npy", "@in", "@link"})
      expect_refused("convert " + std::string(set) + " " + out, "--out", "IN reads that file");
}

TEST_F(Outputs, ThatAreReadAlongWithAnInputAreRefused) {
  std::filesystem::create_directory(file("set"));
  for (const char* input : {"set/a_challenges.json", "set/step_1"})
    write_file_atomic(file(input), kPrecious);
  for (const char* beside : {"set/a_solutions.json", "set/identifiers.json", "set/all_config.yaml"})
    std::filesystem::create_hard_link(file("in"), file(beside));
  expect_refused("eval @other --data @set/a_challenges.json --submission @set/a_solutions.json",
                 "--submission", "--data reads that file");
  expect_refused("eval @set/step_1 --data @other --json @set/identifiers.json", "--json",
                 "model reads that file");
  expect_refused("convert @set/step_1 @set/all_config.yaml", "--out", "IN reads that file");
}

TEST_F(Outputs, OfAFolderAreLookedAtToo) {
  std::filesystem::create_directory(file("run"));
  std::filesystem::create_hard_link(file("in"), file("run/weights.safetensors"));
  expect_refused("qat @other --from @run/weights.safetensors --out @run", "--out",
                 "--from reads that file");
  expect_refused("train @other --from @in --out @run", "--out", "--from reads that file");
  std::filesystem::create_hard_link(file("in"), file("run/recipe.txt"));
  expect_refused("train @run/recipe.txt --out @run", "--out", "RECIPE reads that file");
  std::filesystem::create_hard_link(file("in"), file("run/test_puzzles.json"));
  expect_refused("data augment @in --seed 1 --out @run", "--out", "TASKS reads that file");
  std::filesystem::create_hard_link(file("in"), file("run.html"));
  expect_refused("study granularity --data @in --out @run.jsonl", "the report beside --out",
                 "--data reads that file");
}

TEST_F(Outputs, ThatStandardOutputGoesToAreRefused) {
  const Outcome outcome = run_program(
      with_files("{ " DRIFTLESS_PROGRAM " eval @other --data @other --json @new >@new; }"));
  expect_failure(outcome, 10, "--json: standard output writes that file too");
}

TEST_F(Outputs, GoToPipesAndLinkedFiles) {
  // Nothing of the machine's own, such as /dev/null, which a mistake could replace.
  std::filesystem::create_symlink("/proc/self/fd/1", file("pipe"));
  write_file_atomic(file("floats"), std::string(8, '\0'));
  const std::string encode =
      with_files(DRIFTLESS_PROGRAM " codec encode --format int4 --input @floats --out @");
  const Outcome piped = run_program("{ " + encode + "pipe | cat; }");
  EXPECT_EQ(piped.out, std::string(2, '\0')) << piped.err;
  EXPECT_TRUE(std::filesystem::is_symlink(file("pipe")));
  EXPECT_EQ(run_program(encode + "link").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(file("link")));
  EXPECT_EQ(text_of(file("in")), std::string(2, '\0'));
  EXPECT_EQ(text_of(file("twin")), kPrecious);
}

class Printed : public Outputs {
 protected:
  Printed() {
    cli_testing::save_tiny_model(file("model"), 1);
    const std::string boards =
        (std::filesystem::path(DRIFTLESS_MODEL).parent_path() / "demo-sudoku.csv").string();
    std::filesystem::copy_file(boards, file("boards.csv"));
    write_file_atomic(file("floats"), std::string(8, '\0'));
  }
  /// What the program says where stdout is redirected like that.
  [[nodiscard]] Outcome redirected(const std::string& command, const std::string& to) const {
    return run_program("{ " + with_files(DRIFTLESS_PROGRAM " " + command + " " + to) + "; }");
  }
};

TEST_F(Printed, OnAFullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  std::vector<std::string> commands = {"--help",
                                       "--version",
                                       "eval --help",
                                       "info",
                                       "info @model",
                                       "formats",
                                       "formats --json",
                                       "codec error --format int4 --input @floats",
                                       "codec error --format int4 --input @floats --json",
                                       "data check @boards.csv",
                                       "data stats @boards.csv",
                                       "data generate --count 1 --seed 1 --out @new",
                                       "data convert @boards.csv --out @new",
                                       "convert @model @new",
                                       "quantize @model @new --weights mxint4"};
  for (const char* command :
       {"solve @model", "solve @model --json", "eval @model --data @boards.csv --limit 1",
        "ladder @model --data @boards.csv --limit 1 --steps 1 --schemes none mxint4",
        "ladder @model --data @boards.csv --limit 1 --steps 1 --schemes none --json",
        "study granularity @model --data @boards.csv --limit 1 --rows 0 --set steps=1",
        "recommend @model --data @boards.csv --limit 1 --steps 1 --probe-boards 1",
        "trace @model --data @boards.csv --limit 1 --steps 1 --schemes none --out @new",
        "accumulators @model --data @boards.csv --limit 1 --steps 1 --bits 16"})
    commands.emplace_back(command);
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    expect_failure(redirected(command, ">/dev/full"), 14, "standard output: cannot write");
  }
}

TEST_F(Printed, OnAClosedDescriptorIsAnErrorAndGoesIntoNoFile) {
  expect_failure(redirected("formats", ">&-"), 14, "standard output: cannot write");
  expect_failure(redirected("data convert @boards.csv --out @new", ">&-"), 14,
                 "standard output: cannot write");
  EXPECT_EQ(driftless(with_files("data check @new")).exit_code, 0);
  EXPECT_EQ(redirected("codec encode --format int4 --input @floats --out @new", ">&-").exit_code,
            0);
}

TEST_F(Printed, ForAReaderThatHasGoneEndsQuietly) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const std::string to = ">&" + std::to_string(ends[1]);
  for (const char* before : {"", "trap '' PIPE; "}) {
    const Outcome outcome =
        run_program("{ " + std::string(before) + DRIFTLESS_PROGRAM " formats " + to + "; }");
    EXPECT_EQ(outcome.exit_code, 128 + SIGPIPE) << before;
    EXPECT_EQ(outcome.err, "") << before;
  }
  ::close(ends[1]);
}

}  // namespace
}  // namespace driftless
