// SPDX-License-Identifier: Apache-2.0
// "-" for standard input and output, --json with and without a file, and the earlier names of
// flags.
#include "driftless/cli/terminal/streams.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/cli/flags/json_values.h"

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using cli_testing::kBoard;
using testing::Outcome;
using testing::text_of;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kBoards =
    (std::filesystem::path(DRIFTLESS_MODEL).parent_path() / "demo-sudoku.csv").string();

class Streams : public ::testing::Test {
 protected:
  std::string file(const char* name) const { return (dir_.path() / name).string(); }
  testing::TempDir dir_;
};

TEST_F(Streams, BoardsComeFromStandardInput) {
  const std::string named = driftless("data stats " + kBoards).out;
  EXPECT_EQ(driftless("data stats - <" + kBoards).out, named);
  const Outcome checked = driftless("data check - <" + kBoards);
  EXPECT_TRUE(checked.out.starts_with("-: 64 boards, every answer")) << checked.out << checked.err;
  const Outcome converted = driftless("data convert - --out - <" + kBoards);
  EXPECT_EQ(converted.exit_code, 0);
  EXPECT_TRUE(converted.out.starts_with("source,question,answer,rating\n")) << converted.out;
  EXPECT_EQ(converted.err, "-: 64 sudoku boards\n");
  expect_failure(driftless("data check - </dev/null"), 12,
                 "standard input: looks like the boards of no task");
  write_file_atomic(dir_.path() / "bad", "puzzle,solution\n123,456\n");
  expect_failure(driftless("data check - <" + file("bad")), 12, "standard input:2");
  write_file_atomic(dir_.path() / "arc", R"({"train": [], "test": [{"input": [[1]]}]})");
  EXPECT_NE(driftless("data stats - <" + file("arc")).out.find("test inputs  1"),
            std::string::npos);
}

TEST_F(Streams, GeneratedBoardsGoToStandardOutput) {
  const std::string generate = "data generate --count 2 --seed 3 --out ";
  ASSERT_EQ(driftless(generate + file("boards")).exit_code, 0);
  const Outcome printed = driftless(generate + "-");
  EXPECT_EQ(printed.out, text_of(file("boards")));
  EXPECT_EQ(printed.err, "-: 2 sudoku boards, seed 3\n");
}

TEST_F(Streams, CodecIsAFilter) {
  write_file_atomic(dir_.path() / "x", std::string(128, '\0'));
  ASSERT_EQ(driftless("codec encode --format mxint4 --input " + file("x") + " --out " + file("y"))
                .exit_code,
            0);
  const Outcome encoded = driftless("codec encode --format mxint4 --input - --out - <" + file("x"));
  EXPECT_EQ(encoded.out, text_of(file("y")));
  EXPECT_EQ(encoded.err, "");
  EXPECT_EQ(driftless("codec decode --format mxint4 --input - --out - <" + file("y")).out,
            std::string(128, '\0'));
}

TEST_F(Streams, ReportsAreFilters) {
  write_file_atomic(dir_.path() / "claims",
                    R"({"claim": "c", "source": "s", "theirs": "t", "study": null, "ours": null, )"
                    R"("verdict": null, "reason": "r"})"
                    "\n");
  const Outcome page = driftless("report - --out - <" + file("claims"));
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_NE(page.out.find("<html"), std::string::npos);
  EXPECT_NE(page.err.find("1 claims"), std::string::npos) << page.err;
}

TEST_F(Streams, ModelsReadStandardInput) {
  const Outcome solved = driftless("solve --steps 1 " + kBoard);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  write_file_atomic(dir_.path() / "board", kBoard + "\n");
  EXPECT_EQ(driftless("solve --steps 1 - <" + file("board")).out, solved.out);
  EXPECT_EQ(driftless("solve --steps 1 --data - <" + file("board")).out, solved.out);
  const std::string eval = "eval " DRIFTLESS_MODEL " --limit 2 --steps 1 --data ";
  const Outcome scored = driftless(eval + "- --json <" + kBoards);
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(Json::parse(scored.out).at("exact").at("n"), 2);
  EXPECT_NE(scored.err.find("n 2 boards"), std::string::npos) << "the table is beside it";
  ASSERT_EQ(driftless(eval + kBoards + " --json " + file("r.json")).exit_code, 0);
  EXPECT_EQ(Json::parse(text_of(file("r.json"))).at("exact"), Json::parse(scored.out).at("exact"));
  expect_failure(driftless(eval + kBoards + " --json - --predictions -"), 10, "expected standard");
}

TEST_F(Streams, JsonGoesWhereItIsAsked) {
  const std::string error = "codec error --format int4 --gaussian 100 --seed 1 ";
  const Outcome printed = driftless(error + "--json");
  EXPECT_EQ(Json::parse(printed.out).at("values"), 100);
  EXPECT_EQ(driftless(error + "--json -").out, printed.out);
  const Outcome written = driftless(error + "--json " + file("e.json"));
  EXPECT_NE(written.out.find("sqnr"), std::string::npos) << "the table stays";
  EXPECT_EQ(text_of(file("e.json")), printed.out);
  ASSERT_EQ(driftless("formats --json " + file("f.json")).exit_code, 0);
  EXPECT_EQ(text_of(file("f.json")), driftless("formats --json").out);
  expect_failure(driftless("data stats --json"), 2, "unknown argument '--json'");
}

TEST_F(Streams, JsonTakesNoModelAndNoBoard) {
  using cli::with_json_values;
  const auto settled = [](const std::string& verb, const std::string& word) {
    return with_json_values({verb, "--json", word});
  };
  EXPECT_EQ(with_json_values({"eval", "--json"}), (Words{"eval", "--json=-"}));
  EXPECT_EQ(settled("eval", "--limit"), (Words{"eval", "--json=-", "--limit"}));
  for (const char* name : {"model", "old.json"}) write_file_atomic(dir_.path() / name, "precious");
  const std::string model = file("model");
  for (const std::string& word : Words{"-", "new", "/dev/null", file("old.json")})
    EXPECT_EQ(settled("solve", word), (Words{"solve", "--json", word}));
  for (const std::string& word : Words{kBoard, model})
    EXPECT_EQ(settled("solve", word), (Words{"solve", "--json=-", word}));
  EXPECT_EQ(settled("ladder", model), (Words{"ladder", "--json=-", model}));
  EXPECT_EQ(settled("eval", model), (Words{"eval", "--json", model}));
}

TEST_F(Streams, EarlierNamesAreAcceptedAndHidden) {
  ASSERT_EQ(driftless("data generate --count 1 --seed 1 --output " + file("a")).exit_code, 0);
  ASSERT_EQ(driftless("data generate --count 1 --seed 1 --out " + file("b")).exit_code, 0);
  EXPECT_EQ(text_of(file("a")), text_of(file("b")));
  EXPECT_EQ(driftless("data convert " + file("a") + " --output " + file("c")).exit_code, 0);
  expect_failure(driftless("data generate --count 1 --seed 1"), 2, "--out is required");
  expect_failure(driftless("data convert a --out b --output c"), 2, "--out");
  struct Old {
    const char* verb;
    const char* flag;
  };
  for (const auto& [verb, flag] :
       {Old{"data generate", "--output"}, Old{"data convert", "--output"},
        Old{"data augment", "--output"}, Old{"codec encode", "--output"},
        Old{"train widen", "--output"}, Old{"eval", "--slots"}, Old{"solve", "--model"},
        Old{"solve", "--file"}, Old{"study", "--model"}, Old{"bench", "--model"}}) {
    const Outcome help = driftless(std::string("help ") + verb);
    EXPECT_EQ(help.exit_code, 0) << help.err;
    EXPECT_EQ(help.out.find(flag), std::string::npos) << help.out;
    const Outcome given = driftless(std::string(verb) + " " + flag);
    EXPECT_EQ(given.exit_code, 2) << verb << flag;
    EXPECT_EQ(given.err.find("unknown argument"), std::string::npos) << given.err;
  }
  for (const char* verb : {"quantize", "convert"})
    EXPECT_NE(driftless(std::string("help ") + verb).out.find("--out"), std::string::npos);
}

TEST_F(Streams, SolveTellsModelFromBoard) {
  const std::string expected = driftless("solve --steps 1 " + kBoard).out;
  for (const std::string& words :
       {std::string(DRIFTLESS_MODEL " ") + kBoard, kBoard + " " DRIFTLESS_MODEL,
        "--model " DRIFTLESS_MODEL " " + kBoard, kBoard + " --model " DRIFTLESS_MODEL})
    EXPECT_EQ(driftless("solve --steps 1 " + words).out, expected) << words;
  EXPECT_EQ(driftless("solve --steps 1 --json " + kBoard).out,
            driftless("solve --steps 1 " + kBoard + " --json").out);
  const Outcome both = driftless("solve --steps 1 " + kBoard + " --json " + file("s.json"));
  EXPECT_EQ(both.out, expected);
  EXPECT_EQ(Json::parse(text_of(file("s.json"))).at("question"), kBoard);
  expect_failure(driftless("solve " + kBoard + " --data x"), 2, "--data");
}

}  // namespace
}  // namespace driftless
