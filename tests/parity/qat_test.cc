// SPDX-License-Identifier: Apache-2.0
// What quantization-aware training measures is what the CPU backend computes from its export, board
// by board.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/file.h"
#include "driftless/engine/cpu_reasoner.h"
#include "driftless/quant/plan_json.h"
#include "driftless/reason/run.h"
#include "driftless/store/checkpoint.h"

#include "tests/lab/qat_run.h"
#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

int64_t solved_by_engine(const std::filesystem::path& folder,
                         const std::vector<task::Example>& examples) {
  const std::vector<std::byte> bytes = read_file(folder / "plan.json");
  const quant::QuantPlan plan = quant::plan_from_json(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "plan.json");
  const store::Checkpoint checkpoint = store::load_checkpoint(folder / "weights.safetensors");
  const auto reasoner =
      engine::make_cpu_reasoner(checkpoint, {.slots = 8, .threads = 1, .plan = &plan});
  std::vector<reason::Board> boards;
  boards.reserve(examples.size());
  for (const task::Example& example : examples) boards.push_back({.tokens = example.input});
  int64_t solved = 0;
  reason::run(
      *reasoner, boards,
      {.halting = reason::find_halting("fixed"), .max_steps = checkpoint.config.halt_max_steps},
      [&](int64_t board, const reason::Answer& answer) {
        solved += answer.tokens == examples[static_cast<size_t>(board)].label ? 1 : 0;
      });
  return solved;
}

TEST(QatParity, EngineSolvesTheBoardsThatLabSolves) {
  const std::vector<task::Example> boards = lab::testing::tiny_boards(64, 3);
  for (const std::string& quant :
       {std::string("weights = 'mxint4'\nacts = 'mxint4'\ncoverage = 'linear'\n"),
        std::string("weights = 'int4/channel'\nacts = 'int4/tensor'\nweight_method = 'lsq'\n"
                    "act_method = 'lsq'\ncoverage = 'linear'\nbias = 'int32'\n"),
        std::string("weights = 'int4/tensor'\nacts = 'int4/tensor/static'\n"
                    "iteration_norm = true\n")}) {
    lab::Trainer trainer = lab::testing::qat_trainer(lab::testing::qat_recipe(quant));
    for (int i = 0; i < 120; ++i) trainer.step();
    trainer.take_tally();
    const driftless::testing::TempDir dir;
    trainer.export_model(dir.path());
    // One board at a time, so that hits are compared and not only their number.
    int64_t lab_solved = 0;
    for (const task::Example& board : boards) {
      const bool is_solved = trainer.evaluate({&board, 1}).exact.hits == 1;
      EXPECT_EQ(solved_by_engine(dir.path(), {board}), is_solved ? 1 : 0) << quant;
      lab_solved += is_solved ? 1 : 0;
    }
    EXPECT_GT(lab_solved, 0) << "nothing to compare";
  }
}

}  // namespace
}  // namespace driftless
