// SPDX-License-Identifier: Apache-2.0
// Checkpoints that the official TRM, HRM and EqR code wrote, converted without a flag, against the
// answers of that code in float32, step by step.
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/reason/run.h"
#include "driftless/simulate/cpu_reasoner.h"
#include "driftless/store/model_file.h"

#include "tests/testing/shared_data.h"

namespace driftless::simulate {
namespace {

/// Both programs round the state after each sublayer: at most 864 of them in six steps (HRM: 2 x 8
/// + 2 calls of 4 blocks of 2), each time by 2^-24 of a root mean square of 1. Errors that all add
/// up, in both, leave this much on a logit whose weights have a norm of about 1. Seen: 4.7e-5 at
/// most.
constexpr double kTolerance = 2 * 864 * 0x1p-24;

struct Case {
  const char* folder;
  const char* file;
  const char* weights;
};

class Official : public ::testing::TestWithParam<Case> {};

std::vector<std::vector<uint8_t>> read_questions(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<uint8_t>> boards;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<uint8_t>& board = boards.emplace_back();
    for (const char c : line.substr(0, 81))
      board.push_back(c == '.' ? 1 : static_cast<uint8_t>(c - '0' + 1));
  }
  return boards;
}

std::string text_of(const std::vector<uint8_t>& tokens) {
  std::string text;
  for (const uint8_t token : tokens) text += "..123456789"[token];
  return text;
}

TEST_P(Official, EveryStepIsTheOfficialOne) {
  const auto folder = driftless::testing::shared_path(
      std::filesystem::path("checkpoints/official") / GetParam().folder);
  DRIFTLESS_NEEDS_FILE(folder);
  const store::ImportedModel model = store::import_model(folder / GetParam().file, {});
  EXPECT_EQ(model.weights, GetParam().weights);
  EXPECT_TRUE(model.assumed.empty());
  EXPECT_EQ(model.checkpoint.config.task, "sudoku");

  const auto questions = read_questions(folder / "boards.csv");
  std::vector<reason::Board> boards;
  for (const auto& question : questions)
    boards.push_back({.tokens = question, .seed = boards.size()});
  const auto expected = nlohmann::json::parse(std::ifstream(folder / "reference.json"));
  const size_t steps = expected.at("cells").size();
  ASSERT_EQ(steps, 6u);
  ASSERT_EQ(boards.size(), expected.at("cells").at(0).size());

  const auto reasoner = make_cpu_reasoner(model.checkpoint, {.slots = 6, .threads = 2});
  double largest = 0;
  reason::run(
      *reasoner, boards,
      {.halting = reason::find_halting("fixed"), .max_steps = static_cast<int64_t>(steps)},
      [](int64_t, const reason::Answer&) {},
      [&](int64_t board, const reason::Answer& answer) {
        const auto step = static_cast<size_t>(answer.steps - 1);
        const auto index = static_cast<size_t>(board);
        EXPECT_EQ(text_of(answer.tokens),
                  expected.at("cells").at(step).at(index).get<std::string>())
            << "step " << answer.steps << ", board " << board;
        const double official = expected.at("halt_logit").at(step).at(index);
        largest = std::max(largest, std::fabs(answer.halt_logit - official));
      });
  EXPECT_LE(largest, kTolerance);
  RecordProperty("largest_difference", std::to_string(largest));
}

INSTANTIATE_TEST_SUITE_P(
    Files, Official,
    ::testing::Values(Case{"trm-mlp", "step_65100", "averaged (saved with ema: true)"},
                      Case{"trm-attention", "step_65100", "averaged (saved with ema: true)"},
                      Case{"hrm", "step_65100", "of the state dict"},
                      Case{"eqr", "checkpoints/step_65000_abc123xy.pth", "averaged (ema.shadow)"}),
    [](const auto& file) {
      std::string name = file.param.folder;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace driftless::simulate
