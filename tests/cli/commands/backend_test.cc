// SPDX-License-Identifier: Apache-2.0
// driftless eval --device: the same answers from every backend, or how to get it.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::TempDir;

class Backend : public ::testing::Test {
 protected:
  Backend() {
    write_file_atomic(
        file("boards.txt"),
        std::string("23...59....49....8.1.....461...9..6...7.....98...36.17...7..65.5...13......"
                    ".....2\n"));
  }
  std::string file(const std::string& name) const { return (dir_.path() / name).string(); }
  Outcome eval(const std::string& flags) const {
    return driftless("eval " DRIFTLESS_MODEL " --data " + file("boards.txt") + " " + flags);
  }
  TempDir dir_;
};

TEST_F(Backend, TorchAnswersAsTheEngineDoesOrSaysHowToGetIt) {
  const Outcome torch = eval("--device cpu-torch --steps 3 --predictions " + file("torch"));
  if (torch.exit_code != 0) {
    expect_failure(torch, 13, "-DDRIFTLESS_LAB=ON");
    return;
  }
  EXPECT_NE(torch.out.find("cpu-torch"), std::string::npos) << torch.out;
  const Outcome engine = eval("--device cpu --steps 3 --predictions " + file("engine"));
  ASSERT_EQ(engine.exit_code, 0) << engine.err;
  const auto of_torch = nlohmann::json::parse(testing::text_of(file("torch")));
  const auto of_engine = nlohmann::json::parse(testing::text_of(file("engine")));
  EXPECT_EQ(of_torch.at("prediction"), of_engine.at("prediction"));
  // tests/parity bounds the difference; this only tells the right board from a wrong one.
  EXPECT_NEAR(of_torch.at("halt_logit").get<double>(), of_engine.at("halt_logit").get<double>(),
              1e-2);
}

TEST_F(Backend, RejectsWhatIsNotThere) {
  expect_failure(eval("--device cuba"), 2, "did you mean 'cuda'");
  expect_failure(eval("--batch 0"), 2, "--batch");
}

}  // namespace
}  // namespace driftless
