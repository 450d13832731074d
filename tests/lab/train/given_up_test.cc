// SPDX-License-Identifier: Apache-2.0
// Steps that are given up between any two layers, forwards or backwards, leave the run where it
// was.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/text/text.h"
#include "driftless/lab/train/train_loop.h"

#include "tests/lab/qat_run.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::TempDir;
using testing::qat_recipe;
using testing::qat_trainer;
using testing::tiny_pool;
using testing::tiny_recipe;
using testing::tiny_start;

/// Says no so many times, then yes once.
struct Countdown {
  int64_t left = -1;
  std::function<bool()> question() {
    return [this] { return left-- == 0; };
  }
};

constexpr const char* kLocal = "weights = 'mxint4'\ndistill = 1.0\ndistill_local = true\n";

Trainer trainer_of(const Recipe& recipe, Countdown& countdown) {
  if (recipe.has_quant) return qat_trainer(recipe, countdown.question());
  TrainerOptions options;
  options.should_give_up = countdown.question();
  return {recipe, tiny_pool(), tiny_start(recipe), options};
}

Recipe drawing_recipe() {
  std::string text = testing::kTinyRecipe;
  const std::string section = "[model]\n";
  text.insert(text.find(section) + section.size(), "arch = \"eqr\"\n");
  return parse_recipe(text, "tiny");
}

void expect_same(const Trainer& trainer, const Trainer& straight) {
  EXPECT_TRUE(at::equal(trainer.state().optimizer.values, straight.state().optimizer.values));
  EXPECT_TRUE(at::equal(trainer.carry().states.h, straight.carry().states.h));
  EXPECT_TRUE(at::equal(trainer.carry().inputs, straight.carry().inputs));
  if (straight.carry().followed.h.defined()) {
    EXPECT_TRUE(at::equal(trainer.carry().followed.h, straight.carry().followed.h));
  }
}

TEST(GivenUp, StepsComeAgainBitForBit) {
  for (const Recipe& recipe :
       {tiny_recipe(), drawing_recipe(), qat_recipe("weights = 'mxint4'\ndistill = 1.0\n"),
        qat_recipe(kLocal)}) {
    Countdown never;
    Countdown countdown;
    Trainer straight = trainer_of(recipe, never);
    Trainer trainer = trainer_of(recipe, countdown);
    for (int i = 0; i < 5; ++i) straight.step();  // boards halt after four
    const int64_t before = never.left;
    straight.step();
    const int64_t questions = before - never.left;
    EXPECT_GE(questions, 18);  // two a network call and, of the differentiated, two more
    for (int i = 0; i < 5; ++i) trainer.step();
    for (int64_t at = 0; at < questions; ++at) {
      countdown.left = at;
      EXPECT_THROW(trainer.step(), GivenUp) << at;
      EXPECT_EQ(trainer.state().step, 5);
    }
    countdown.left = -1;
    trainer.step();
    expect_same(trainer, straight);
  }
}

// The float model's calls beside the differentiated ones are as long as those.
TEST(GivenUp, TheTeacherAsksInEachOfItsCalls) {
  const auto questions_of = [](const Recipe& recipe) {
    Countdown never;
    Trainer trainer = trainer_of(recipe, never);
    trainer.step();
    return -1 - never.left;
  };
  // Three differentiated calls of one block, two questions each.
  EXPECT_EQ(questions_of(qat_recipe(kLocal)), questions_of(qat_recipe("weights = 'mxint4'\n")) + 6);
}

TEST(GivenUp, LoopsSaveAndGoOnWithTheEvaluationThatIsMissing) {
  const TempDir folder;
  Recipe recipe = tiny_recipe();
  recipe.lr.steps = 4;
  recipe.eval_every = 2;
  const std::vector<task::Example> boards = testing::tiny_boards(4, 8);
  LoopOptions options;
  options.folder = folder.path();
  options.eval_boards = boards;
  for (const bool is_first : {true, false}) {
    TrainerOptions giving_up;
    Trainer* running = nullptr;
    giving_up.should_give_up = [&] {  // within the evaluation after step 2
      return is_first && running->state().step == 2;
    };
    Trainer trainer(
        recipe, tiny_pool(),
        is_first ? tiny_start(recipe) : load_run(folder.path(), recipe.model, at::kFloat, at::kCPU),
        giving_up);
    running = &trainer;
    const EndOfRun end = train(trainer, options);
    EXPECT_EQ(end.reason, is_first ? Reason::Stopped : Reason::LastStep);
    EXPECT_EQ(end.step, is_first ? 2 : 4);
  }
  std::string evaluated;
  const std::string metrics = driftless::testing::text_of(folder.path() / "metrics.jsonl");
  for (const std::string_view line : split(metrics, '\n'))
    if (line.find("\"eval\"") != std::string_view::npos)
      evaluated += line.substr(line.find("\"step\""), 9);
  EXPECT_EQ(evaluated, "\"step\":0,\"step\":2,\"step\":4,");
}

}  // namespace
}  // namespace driftless::lab
