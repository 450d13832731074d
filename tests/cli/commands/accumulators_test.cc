// SPDX-License-Identifier: Apache-2.0
// driftless accumulators with the bundled model.
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

class Accumulators : public ::testing::Test {
 protected:
  Accumulators() { write_file_atomic(file("boards.txt"), kBoard + "\n"); }
  std::string file(const char* name) const { return (dir_.path() / name).string(); }
  Outcome run(const std::string& flags) const {
    return driftless("accumulators " DRIFTLESS_MODEL " --steps 1 --data " + file("boards.txt") +
                     " " + flags);
  }
  TempDir dir_;
};

TEST_F(Accumulators, TellWidthsPerLayerAndTheCostOfNarrowOnes) {
  const Outcome outcome = run("--threads 2 --bits 8 30 --json " + file("r.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* word : {"L_level.layers.0.mlp_t.gate_up_proj.weight", "8 bits", "saturate",
                           "coverage block", "wide"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome.out;
  const auto result = nlohmann::json::parse(testing::text_of(file("r.json")));
  EXPECT_EQ(result.at("scheme"), "weights mxint4,window=4, acts mxint4,window=4, coverage block");
  EXPECT_EQ(result.at("layers").size(), 16u) << "8 layers, each for z_L and z_H";
  for (const auto& layer : result.at("layers")) {
    EXPECT_LE(layer.at("bits_seen"), layer.at("bits_enough_for_weights"));
    EXPECT_LE(layer.at("bits_enough_for_weights"), layer.at("bits_enough_for_formats"));
    // K is 81, 256 or 768: 81 * 112^2 is just below 2^20, 768 * 112^2 below 2^24.
    EXPECT_EQ(layer.at("bits_enough_for_formats"), layer.at("k") == 81    ? 21
                                                   : layer.at("k") == 256 ? 23
                                                                          : 25);
  }
  const auto& narrow = result.at("narrow");
  ASSERT_EQ(narrow.size(), 4u);
  EXPECT_EQ(narrow[0].at("changed_boards"), 1) << "8 bits hold no sum of a block";
  EXPECT_GT(narrow[0].at("share_of_sums_beyond"), 0.5);
  for (const size_t wide : {2u, 3u}) {
    EXPECT_EQ(narrow[wide].at("bits"), 30);
    EXPECT_EQ(narrow[wide].at("changed_boards"), 0);
    EXPECT_EQ(narrow[wide].at("share_of_sums_beyond"), 0);
  }
}

TEST_F(Accumulators, RefuseBadInput) {
  expect_failure(run("--bits 1"), 10, "--bits; got 1, expected 2 to 62");
  expect_failure(run("--weights mxfp4"), 13, "expected mxint blocks of 32");
  expect_failure(run("--acts mxint4"), 13, "window");
  expect_failure(run("--weights none --acts none"), 10, "quantizes no layer");
  expect_failure(run("--coverage linear"), 13, "q_head.weight");
  expect_failure(run("--json /nowhere/r.json"), 14, "/nowhere");
  expect_failure(driftless("accumulators " DRIFTLESS_MODEL " --data /nowhere"), 14, "/nowhere");
}

}  // namespace
}  // namespace driftless
