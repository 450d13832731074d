// SPDX-License-Identifier: Apache-2.0
// driftless eval under a quantization scheme or plan, with the bundled model.
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

class QuantizedEval : public ::testing::Test {
 protected:
  QuantizedEval() { write_file_atomic(file("boards.txt"), kBoard + "\n" + kBoard + "\n"); }
  std::string file(const char* name) const { return (dir_.path() / name).string(); }
  Outcome eval(const std::string& flags) const {
    return driftless("eval " DRIFTLESS_MODEL " --limit 1 --halting halt --data " +
                     file("boards.txt") + " " + flags);
  }
  /// The predictions and the result of a run, without its time.
  nlohmann::json record(const std::string& flags) const {
    const Outcome outcome =
        eval(flags + " --json " + file("r.json") + " --predictions " + file("p.jsonl"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    auto result = nlohmann::json::parse(testing::text_of(file("r.json")));
    EXPECT_NE(outcome.out.find("scheme     " + result.at("scheme").get<std::string>()),
              std::string::npos)
        << outcome.out;
    result.erase("wall_s");
    result["predictions"] = testing::text_of(file("p.jsonl"));
    return result;
  }
  std::string plan(const std::string& layer, const std::string& body) const {
    write_file_atomic(file("plan.json"),
                      R"({"version": 1, "layers": {")" + layer + "\": " + body + "}}");
    return "--plan " + file("plan.json");
  }
  TempDir dir_;
};

TEST_F(QuantizedEval, SaysTheResolvedPairAndCoverage) {
  const auto mxint4 = record("--weights mxint4,rule=floor --acts mxint4");
  EXPECT_EQ(mxint4.at("scheme"), "weights mxint4, acts mxint4, coverage block");
  EXPECT_EQ(mxint4.at("calibration"), "");
  const auto linear = record("--weights int8 --acts int8/token --coverage linear --bias int32");
  EXPECT_EQ(linear.at("scheme"), "weights int8, acts int8/token, coverage linear, bias int32");
}

TEST_F(QuantizedEval, NoneIsTheFloatResult) {
  const auto plain = record("");
  EXPECT_EQ(plain.at("scheme"), "weights none, acts none");
  EXPECT_EQ(record("--weights none --acts none --coverage linear"), plain);
}

TEST_F(QuantizedEval, CalibratesStaticScales) {
  const std::string data = " --calibration-data " + file("boards.txt");
  const auto result =
      record("--weights int8 --acts int8/tensor/static --scales role --smooth 0.5" + data +
             " --calibration-may-overlap --calibration-boards 1"
             " --calibration-seed 3");
  EXPECT_EQ(result.at("scheme"),
            "weights int8, acts int8/tensor/static, coverage block, scales per role, smooth 0.5");
  EXPECT_EQ(result.at("calibration"), "1 boards of " + file("boards.txt") + ", seed 3");
  expect_failure(eval("--acts int8/tensor/static --calibration-boards 200" + data), 10,
                 "got 200, expected 1 to 2");
}

TEST_F(QuantizedEval, NeverCalibratesUnaskedOnTheBoardsThatAreScored) {
  const std::string flags = "--weights int8 --acts int8/tensor/static";
  expect_failure(eval(flags + " --calibration-data " + file("boards.txt")), 10,
                 "2 of 2 boards of " + file("boards.txt") + " that are scored too");
  const auto generated = record(flags + " --calibration-boards 1");
  EXPECT_EQ(generated.at("calibration"), "1 generated boards, seed 1");
  // The generator's first board, by the same seed, from a file.
  ASSERT_EQ(driftless("data generate --count 1 --seed 1 --output " + file("made.csv")).exit_code,
            0);
  auto same = record(flags + " --calibration-data " + file("made.csv"));
  EXPECT_EQ(same.at("calibration"), "1 boards of " + file("made.csv") + ", seed 1");
  same["calibration"] = generated.at("calibration");
  EXPECT_EQ(same, generated);
}

TEST_F(QuantizedEval, FollowsAPlan) {
  const std::string layer = "L_level.layers.1.mlp.down_proj.weight";
  const auto result = record(plan(layer, R"({"weights": "mxint4", "acts": "int4/token"})"));
  EXPECT_EQ(result.at("scheme"), "weights mxint4, acts int4/token, coverage block");
}

TEST_F(QuantizedEval, RefusesBadSchemesAndPlans) {
  expect_failure(eval("--weights mxint44"), 10, "did you mean 'mxint4'");
  expect_failure(eval("--acts int4/channel"), 10, "token");
  expect_failure(eval("--acts mxint4 --coverage blocks"), 2, "did you mean 'block'");
  expect_failure(eval("--weights mxint4 --bias int16"), 10, "coverage linear");
  expect_failure(eval(plan("L_level.layers.1.mlp.down_prj.weight", "{}")), 11,
                 "did you mean 'L_level.layers.1.mlp.down_proj.weight'");
  expect_failure(eval(plan("lm_head.weight", R"({"wights": "int4"})")), 11, "'weights'");
  expect_failure(eval(plan("lm_head.weight", "{}") + " --weights int4"), 2, "--plan");
  expect_failure(eval("--plan /nowhere"), 14, "/nowhere");
}

}  // namespace
}  // namespace driftless
