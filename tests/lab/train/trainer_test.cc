// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/trainer.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/lab/train/train_loop.h"

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using driftless::testing::TempDir;
using testing::tiny_pool;
using testing::tiny_recipe;
using testing::tiny_start;

Trainer tiny_trainer() { return {tiny_recipe(), tiny_pool(), tiny_start(tiny_recipe()), {}}; }

void run_steps(Trainer& trainer, int64_t count) {
  for (int64_t i = 0; i < count; ++i) trainer.step();
}

TEST(Trainer, LossFalls) {
  Trainer trainer = tiny_trainer();
  run_steps(trainer, 20);
  const double first = trainer.take_tally().answer_loss;
  run_steps(trainer, 80);
  trainer.take_tally();
  run_steps(trainer, 20);
  // Untrained: uniform over 6 tokens is log 6 = 1.79; knowing the alphabet alone gives log 4
  // = 1.39.
  const double last = trainer.take_tally().answer_loss;
  EXPECT_GT(first, 1.4);
  EXPECT_LT(last, 1.35);
}

TEST(Trainer, ResumesBitForBit) {
  const TempDir folder;
  Trainer straight = tiny_trainer();
  run_steps(straight, 12);

  Trainer first = tiny_trainer();
  run_steps(first, 7);
  save_run(folder.path(), first.state(), first.carry());
  const Recipe recipe = tiny_recipe();
  Trainer second(recipe, tiny_pool(), load_run(folder.path(), recipe.model, at::kFloat, at::kCPU),
                 {});
  EXPECT_EQ(second.state().step, 7);
  run_steps(second, 5);

  EXPECT_TRUE(at::equal(straight.state().optimizer.values, second.state().optimizer.values));
  EXPECT_TRUE(at::equal(straight.state().optimizer.ema, second.state().optimizer.ema));
  EXPECT_TRUE(at::equal(straight.carry().states.h, second.carry().states.h));
  EXPECT_TRUE(at::equal(straight.carry().inputs, second.carry().inputs));
}

TEST(Trainer, StateWithoutItsCarryResumesWithFreeSlots) {
  const TempDir folder;
  Trainer first = tiny_trainer();
  run_steps(first, 3);
  save_run(folder.path(), first.state(), first.carry());
  std::filesystem::remove(folder.path() / "carry-3.safetensors");
  const Recipe recipe = tiny_recipe();
  const LoadedRun run = load_run(folder.path(), recipe.model, at::kFloat, at::kCPU);
  EXPECT_FALSE(run.carry.has_value());
  Trainer second(recipe, tiny_pool(), run, {});
  EXPECT_TRUE(second.carry().halted.all().item<bool>());
}

TEST(Trainer, ChunksDoNotChangeTheResult) {
  Trainer whole = tiny_trainer();
  Trainer parts(tiny_recipe(), tiny_pool(), tiny_start(tiny_recipe()), {.chunk = 5});
  run_steps(whole, 1);
  run_steps(parts, 1);
  // The same sums over other block sizes: equal up to float32 rounding of a few hundred terms.
  EXPECT_TRUE(at::allclose(whole.carry().states.h, parts.carry().states.h, 1e-4, 1e-4));
}

TEST(Trainer, NonFiniteLossStopsAndKeepsTheWeights) {
  const TempDir folder;
  Trainer good = tiny_trainer();
  run_steps(good, 2);
  save_run(folder.path(), good.state(), good.carry());
  LoadedRun run = load_run(folder.path(), tiny_recipe().model, at::kFloat, at::kCPU);
  run.carry->states.h.fill_(std::numeric_limits<float>::quiet_NaN());
  run.carry->halted.fill_(false);
  const at::Tensor before = run.state.optimizer.values.clone();
  Trainer bad(tiny_recipe(), tiny_pool(), run, {});
  bad.step();
  EXPECT_TRUE(at::equal(bad.state().optimizer.values, before));
  bad.step();
  expect_error(ErrorCode::Numeric, "step 3: z_L not finite", [&] { bad.take_tally(); });
}

TEST(Trainer, RefusesAnotherRecipeByItsKeys) {
  Recipe other = tiny_recipe();
  other.lr.peak = 0.5;
  other.lr.steps = 999;  // may differ
  expect_error(ErrorCode::BadConfig, "differing keys: train.lr;",
               [&] { Trainer trainer(other, tiny_pool(), tiny_start(tiny_recipe()), {}); });
}

TEST(Trainer, RefusesBoardsOfAnotherSize) {
  Recipe recipe = tiny_recipe();
  recipe.model.seq_len = 81;
  expect_error(ErrorCode::BadConfig, "16 cells",
               [&] { Trainer trainer(recipe, tiny_pool(), tiny_start(recipe), {}); });
}

TEST(RunState, RefusesToSaveNonFiniteWeights) {
  const TempDir folder;
  Trainer trainer = tiny_trainer();
  trainer.state().optimizer.values[0] = std::numeric_limits<float>::infinity();
  expect_error(ErrorCode::Numeric, "not finite",
               [&] { save_run(folder.path(), trainer.state(), trainer.carry()); });
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "state.safetensors"));
}

TEST(RunState, RefusesAStateOfAnotherModel) {
  const TempDir folder;
  Trainer trainer = tiny_trainer();
  save_run(folder.path(), trainer.state(), trainer.carry());
  model::ModelConfig wider = tiny_recipe().model;
  wider.hidden_size = 64;
  expect_error(ErrorCode::BadFile, "values",
               [&] { load_run(folder.path(), wider, at::kFloat, at::kCPU); });
}

/// Every architecture that a recipe can name, small.
std::vector<Recipe> small_recipes() {
  std::vector<Recipe> recipes(5, tiny_recipe());
  recipes[0].model.puzzle_emb_len = 2;
  recipes[0].model.puzzle_emb_ndim = 32;
  recipes[1].model.arch = model::Arch::Hrm;
  recipes[1].model.h_layers = 1;
  recipes[2].model.arch = model::Arch::Eqr;
  recipes[3].model.arch = model::Arch::TrmUntied;
  recipes[4].model.arch = model::Arch::TrmStochastic;
  for (size_t i : {0u, 1u}) {
    recipes[i].model.mixer = model::Mixer::Attention;
    recipes[i].model.positions = model::Positions::Rope;
    recipes[i].model.num_heads = 2;
  }
  return recipes;
}

TEST(Trainer, EveryArchitectureTrainsAndResumesBitForBit) {
  for (const Recipe& recipe : small_recipes()) {
    SCOPED_TRACE(model::to_string(recipe.model.arch));
    const TempDir folder;
    Trainer straight(recipe, tiny_pool(), tiny_start(recipe), {});
    run_steps(straight, 2);
    straight.save(folder.path());
    run_steps(straight, 3);
    Trainer resumed(recipe, tiny_pool(),
                    load_run(folder.path(), recipe.model, at::kFloat, at::kCPU), {});
    run_steps(resumed, 3);
    EXPECT_TRUE(at::equal(straight.state().optimizer.values, resumed.state().optimizer.values));
    EXPECT_TRUE(at::equal(straight.carry().states.h, resumed.carry().states.h));
    EXPECT_EQ(straight.state().puzzle_table.defined(), recipe.model.puzzle_emb_len > 0);
    if (straight.state().puzzle_table.defined()) {
      EXPECT_TRUE(at::equal(straight.state().puzzle_table, resumed.state().puzzle_table));
      EXPECT_GT(straight.state().puzzle_table.abs().max().item<double>(), 0);
    }
    EXPECT_TRUE(std::isfinite(straight.take_tally().halting_loss));
    EXPECT_EQ(straight.evaluate(testing::tiny_boards(5, 9)).exact.n, 5);
  }
}

TEST(Trainer, StagesChangeTheDepth) {
  Recipe staged = tiny_recipe();
  staged.stages = {{0, 1, 1}, {2, 2, 2}};
  Recipe shallow = tiny_recipe();
  shallow.model.h_cycles = 1;
  shallow.model.l_cycles = 1;
  Trainer a(staged, tiny_pool(), tiny_start(staged), {});
  Trainer b(shallow, tiny_pool(), tiny_start(shallow), {});
  run_steps(a, 2);
  run_steps(b, 2);
  EXPECT_TRUE(at::equal(a.state().optimizer.values, b.state().optimizer.values));
  run_steps(a, 1);
  run_steps(b, 1);
  EXPECT_FALSE(at::equal(a.carry().states.h, b.carry().states.h));
}

TEST(Trainer, RefusesABatchThatTheRanksDoNotDivide) {
  struct Three : Ranks {
    [[nodiscard]] int64_t size() const override { return 3; }
  };
  expect_error(ErrorCode::BadConfig, "got 16, expected a multiple of the 3 ranks", [] {
    Trainer trainer(tiny_recipe(), tiny_pool(), tiny_start(tiny_recipe()),
                    {.ranks = std::make_shared<Three>()});
  });
}

TEST(TrainLoop, WritesMetricsStateAndWeights) {
  const TempDir folder;
  Recipe recipe = tiny_recipe();
  recipe.lr.steps = 6;
  recipe.log_every = 2;
  recipe.eval_every = 3;
  Trainer trainer(recipe, tiny_pool(), tiny_start(recipe), {});
  const auto boards = testing::tiny_boards(10, 8);
  int64_t lines = 0;
  LoopOptions options;
  options.folder = folder.path();
  options.eval_boards = boards;
  options.report = [&](const Progress&) { ++lines; };
  const EndOfRun end = train(trainer, options);
  EXPECT_EQ(end.reason, Reason::LastStep);
  EXPECT_EQ(end.step, 6);
  EXPECT_EQ(end.evaluated->exact.n, 10);
  // Three training lines; evaluations before the start, at 3 and at the end.
  EXPECT_EQ(lines, 6);
  std::ifstream metrics(folder.path() / "metrics.jsonl");
  std::string line;
  std::getline(metrics, line);
  EXPECT_NE(line.find("\"kind\":\"eval\",\"step\":0"), std::string::npos) << line;
  const NamedTensors weights = load_weights(folder.path() / "weights.safetensors", recipe.model);
  const at::Tensor flat = to_flat(ParameterLayout(recipe.model), weights, "weights");
  // bfloat16 keeps 8 bits: half a unit is at most 2^-8 of the value.
  EXPECT_TRUE(at::allclose(flat, trainer.state().optimizer.ema, 1.0 / 256, 1e-30));
}

TEST(Trainer, TheWeightOfItsDivergenceKeepsLearnedNoiseNearItsStart) {
  const auto mean_scale = [](double weight) {
    Recipe recipe = tiny_recipe();
    recipe.model.arch = model::Arch::TrmStochastic;
    recipe.model.noise_scale = 1;  // so much that the answers suffer
    recipe.lr.peak = 1e-2;
    recipe.noise_weight = weight;
    Trainer trainer(recipe, tiny_pool(), tiny_start(recipe), {});
    run_steps(trainer, 40);
    return ParameterLayout(recipe.model)
        .view(trainer.state().optimizer.values, model::kLogScaleName)
        .mean()
        .item<double>();
  };
  const double free = mean_scale(0);
  const double held = mean_scale(100);
  EXPECT_LT(free, -0.02) << "the answers alone want less noise";
  EXPECT_LT(std::abs(held), std::abs(free) / 2);
}

TEST(LoadWeights, StartAnotherRecursionOverTheSameTensors) {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "trm.safetensors";
  Rng rng(1);
  const Recipe trm = tiny_recipe();
  const NamedTensors saved = initial_weights(trm.model, rng);
  save_weights(path, trm.model, saved, 0, store::DType::F32);

  Recipe eqr = trm;
  eqr.model.arch = model::Arch::Eqr;
  const NamedTensors loaded = load_weights(path, eqr.model);
  EXPECT_FALSE(loaded.contains("H_init")) << "EqR draws its initial states";
  EXPECT_TRUE(at::equal(loaded.at("lm_head.weight"), saved.at("lm_head.weight")));

  Recipe untied = trm;
  untied.model.arch = model::Arch::TrmUntied;
  const NamedTensors copies = load_weights(path, untied.model);
  for (const char* cycle : {"0", "1", "2"})
    EXPECT_TRUE(at::equal(
        copies.at("L_level.cycles." + std::string(cycle) + ".layers.0.mlp.down_proj.weight"),
        saved.at("L_level.layers.0.mlp.down_proj.weight")));
  Recipe stochastic = trm;
  stochastic.model.arch = model::Arch::TrmStochastic;
  EXPECT_TRUE(
      load_weights(path, stochastic.model).at("transition.log_scale").eq(0).all().item<bool>());

  Recipe wider = trm;
  wider.model.hidden_size *= 2;
  expect_error(ErrorCode::BadConfig, "'H_init': got [32], expected the recipe's [64]",
               [&] { load_weights(path, wider.model); });
  Recipe deeper = trm;
  deeper.model.num_layers = 2;
  expect_error(ErrorCode::BadConfig, "got none", [&] { load_weights(path, deeper.model); });
}

TEST(TrainLoop, StopsAtItsTimeLimit) {
  const TempDir folder;
  Trainer trainer = tiny_trainer();
  LoopOptions options;
  options.folder = folder.path();
  options.max_seconds = 0;
  EXPECT_EQ(train(trainer, options).reason, Reason::TimeLimit);
  EXPECT_EQ(trainer.state().step, 0);
  EXPECT_TRUE(has_run(folder.path()));
}

TEST(TrainLoop, StopsWhenAskedAndSaves) {
  const TempDir folder;
  Trainer trainer = tiny_trainer();
  LoopOptions options;
  options.folder = folder.path();
  options.should_stop = [&] { return trainer.state().step == 3; };
  const EndOfRun end = train(trainer, options);
  EXPECT_EQ(end.reason, Reason::Stopped);
  EXPECT_EQ(load_run(folder.path(), tiny_recipe().model, at::kFloat, at::kCPU).state.step, 3);
}

TEST(TrainLoop, ContinuesTheMetricsOfItsCheckpoint) {
  const TempDir folder;
  const auto path = folder.path() / "metrics.jsonl";
  write_file_atomic(path,
                    "{\"step\":1}\n{\"step\":\"1\"}\n{\"kind\":1,\"step\":1}\n{\"step\":9}\n{\"st");
  write_file_atomic(folder.path() / "state.safetensors.tmp.abc", "half");
  LoadedRun run = tiny_start(tiny_recipe());
  run.state.step = 1;
  Trainer trainer(tiny_recipe(), tiny_pool(), run, {});
  LoopOptions options;
  options.folder = folder.path();
  options.max_seconds = 0;
  train(trainer, options);
  const std::vector<std::byte> bytes = read_file(path);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
            "{\"step\":1}\n{\"kind\":1,\"step\":1}\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "state.safetensors.tmp.abc"));
}

TEST(TrainLoop, SaysWhenTheMetricsCannotBeWritten) {
  const TempDir folder;
  std::filesystem::create_symlink("/dev/full", folder.path() / "metrics.jsonl");
  Recipe recipe = tiny_recipe();
  recipe.log_every = 1;
  Trainer trainer(recipe, tiny_pool(), tiny_start(recipe), {});
  LoopOptions options;
  options.folder = folder.path();
  expect_error(ErrorCode::Io, "disk full", [&] { train(trainer, options); });
}

}  // namespace
}  // namespace driftless::lab
