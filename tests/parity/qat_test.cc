// SPDX-License-Identifier: Apache-2.0
// What quantization-aware training evaluates is what the CPU backend computes from its export,
// board by board and cell by cell.
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/quant/plan/plan_json.h"
#include "driftless/reason/run.h"
#include "driftless/simulate/cpu_reasoner.h"
#include "driftless/store/checkpoint.h"

#include "tests/lab/qat_run.h"
#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

using Answers = std::vector<std::vector<uint8_t>>;

Answers answers_of_engine(const std::filesystem::path& folder,
                          const std::vector<task::Example>& examples) {
  const std::vector<std::byte> bytes = read_file(folder / "plan.json");
  const quant::QuantPlan plan = quant::plan_from_json(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "plan.json");
  const store::Checkpoint checkpoint = store::load_checkpoint(folder / "weights.safetensors");
  const auto reasoner =
      simulate::make_cpu_reasoner(checkpoint, {.slots = 8, .threads = 1, .plan = &plan});
  std::vector<reason::Board> boards;
  boards.reserve(examples.size());
  for (const task::Example& example : examples) boards.push_back({.tokens = example.input});
  Answers answers(examples.size());
  reason::run(
      *reasoner, boards,
      {.halting = reason::find_halting("fixed"), .max_steps = checkpoint.config.halt_max_steps},
      [&](int64_t board, const reason::Answer& answer) {
        answers[static_cast<size_t>(board)] = answer.tokens;
      });
  return answers;
}

/// As Trainer::evaluate runs the average.
Answers answers_of_lab(const lab::Trainer& trainer, const std::vector<task::Example>& examples) {
  const at::NoGradGuard no_gradients;
  const lab::Recipe& recipe = trainer.recipe();
  const at::Tensor ema = trainer.state().optimizer.ema;
  lab::QuantizedModel model(recipe.model, lab::qat_plan(recipe, "."), {ema, ema, {}},
                            {trainer.state().scales.ema, {}});
  model.refresh();
  const lab::RecursiveNet net(recipe.model, model.weights(), trainer.state().initial);
  Answers answers;
  answers.reserve(examples.size());
  for (const task::Example& example : examples) {
    const at::Tensor tokens = at::tensor(at::ArrayRef<uint8_t>(example.input)).unsqueeze(0);
    lab::StepOutput output{net.initial_states(1), {}, {}, {}};
    for (int64_t i = 0; i < recipe.model.halt_max_steps; ++i)
      output = net.step(output.states, {tokens, {}});
    const at::Tensor best = output.logits.argmax(2).to(at::kByte).contiguous();
    answers.emplace_back(best.data_ptr<uint8_t>(), best.data_ptr<uint8_t>() + best.numel());
  }
  return answers;
}

TEST(QatParity, EngineAnswersAsLabDoes) {
  const std::vector<task::Example> boards = lab::testing::tiny_boards(8, 3);
  for (const std::string& quant :
       {std::string("weights = 'mxint4'\nacts = 'mxint4'\ncoverage = 'linear'\n"),
        std::string("weights = 'int4/channel'\nacts = 'int4/tensor'\nweight_method = 'lsq'\n"
                    "act_method = 'lsq'\ncoverage = 'linear'\nbias = 'int32'\n"),
        std::string("weights = 'int4/tensor'\nacts = 'int4/tensor/static'\n"
                    "iteration_norm = true\n")}) {
    lab::Trainer trainer = lab::testing::qat_trainer(lab::testing::qat_recipe(quant));
    for (int i = 0; i < 20; ++i) trainer.step();
    trainer.take_tally();
    const driftless::testing::TempDir dir;
    trainer.export_model(dir.path());
    EXPECT_EQ(answers_of_engine(dir.path(), boards), answers_of_lab(trainer, boards)) << quant;
  }
}

}  // namespace
}  // namespace driftless
