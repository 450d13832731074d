// SPDX-License-Identifier: Apache-2.0
// Quantization-aware training in memory: what is multiplied, what learns, what is refused.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/lab/train/teacher.h"
#include "driftless/quant/plan/plan_json.h"
#include "driftless/quant/plan/planned_layer.h"

#include "tests/lab/qat_run.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using testing::qat_recipe;
using testing::qat_trainer;

constexpr const char* kLsq =
    "weights = 'int4/channel'\nacts = 'int4/tensor'\nweight_method = 'lsq'\nact_method = 'lsq'\n"
    "coverage = 'linear'\nbias = 'int32'\n";

constexpr const char* kRound =
    "weights = 'int3/block32,scale=e5m3'\nacts = 'int4/block32,scale=e5m3'\n"
    "weight_method = 'round'\ndistill = 1.0\ndistill_local = true\nlabels = false\n";

TEST(Qat, WeightsAreThoseOfTheExportedPlan) {
  for (const std::string& quant :
       {std::string("weights = 'mxint3'\nacts = 'mxint4'\ncoverage = 'linear'\n"),
        std::string("weights = 'int4/tensor'\nacts = 'int8/token'\n"), std::string(kLsq)}) {
    const Recipe recipe = qat_recipe(quant);
    const Trainer trainer = qat_trainer(recipe);
    const QatPlan qat = qat_plan(recipe, ".");
    const at::Tensor& masters = trainer.state().optimizer.values;
    QuantizedModel model(recipe.model, qat, {masters, masters, {}},
                         {trainer.state().scales.values, {}});
    model.refresh();
    const ParameterLayout layout(recipe.model);
    for (const quant::LayerPlan& layer : model.plan().layers) {
      const at::Tensor master = layout.view(masters, layer.name);
      const quant::ConstMat weight{master.data_ptr<float>(), master.size(0), master.size(1)};
      const std::vector<float> expected =
          quant::PlannedLayer(layer, weight).multiplied_weight(weight);
      const at::Tensor got = layout.view(model.weights().copy, layer.name).contiguous();
      EXPECT_EQ(std::vector<float>(got.data_ptr<float>(), got.data_ptr<float>() + got.numel()),
                expected)
          << layer.name;
    }
  }
}

TEST(Qat, LearnedScalesAndWeightsMoveFixedScalesDoNot) {
  for (const bool learns : {true, false}) {
    const std::string method = learns ? "lsq" : "naive";
    const Recipe recipe = qat_recipe(
        "weights = 'int4/tensor'\nacts = 'int4/tensor/static'\nweight_method = 'lsq'\n"
        "act_method = '" +
        method + "'\n");
    Trainer trainer = qat_trainer(recipe);
    const at::Tensor weights = trainer.state().optimizer.values.clone();
    const at::Tensor scales = trainer.state().scales.values.clone();
    for (int i = 0; i < 3; ++i) trainer.step();
    trainer.take_tally();
    EXPECT_FALSE(at::equal(weights, trainer.state().optimizer.values));
    const auto slots = scale_slots(qat_plan(recipe, "."), recipe.model);
    for (const ScaleSlot& slot : slots) {
      const auto moved = [&](int64_t at) {
        return scales[at].item<float>() != trainer.state().scales.values[at].item<float>();
      };
      EXPECT_TRUE(moved(slot.weight_begin));
      EXPECT_EQ(moved(slot.act_begin), learns);
    }
  }
}

TEST(Qat, ScalesLearnAtTheirOwnRate) {
  const auto moved_with = [](const char* rate) {
    Trainer trainer = qat_trainer(qat_recipe(std::string(kLsq) + "scale_lr = " + rate + "\n"));
    const at::Tensor start = trainer.state().scales.values.clone();
    trainer.step();
    return (trainer.state().scales.values - start).abs().max().item<double>();
  };
  EXPECT_EQ(moved_with("0.0"), 0);
  // The first update is proportional to the rate; a log near 4 is rounded to 2^-22.
  const double slow = moved_with("1e-3");
  EXPECT_GT(slow, 0);
  EXPECT_NEAR(moved_with("1e-2"), 10 * slow, 11 * std::ldexp(1.0, -22));
}

TEST(Qat, EveryMethodTrainsAndResumesBitForBit) {
  for (const std::string& quant :
       {std::string(kLsq), std::string(kRound),
        std::string("weights = 'mxint2'\nacts = 'mxint4'\ndistill = 0.5\n"),
        std::string("weights = 'int4/tensor'\nacts = 'int4/tensor/static'\niteration_norm = true\n"
                    "distill = 1.0\n")}) {
    const Recipe recipe = qat_recipe(quant);
    const driftless::testing::TempDir dir;
    Trainer straight = qat_trainer(recipe);
    for (int i = 0; i < 6; ++i) straight.step();
    Trainer first = qat_trainer(recipe);
    for (int i = 0; i < 3; ++i) first.step();
    first.save(dir.path());
    TrainerOptions options;
    options.qat = qat_plan(recipe, ".");
    Trainer second(recipe, testing::tiny_pool(),
                   load_run(dir.path(), recipe.model, at::kFloat, at::kCPU), options);
    for (int i = 0; i < 3; ++i) second.step();
    EXPECT_TRUE(at::equal(straight.state().optimizer.values, second.state().optimizer.values));
    EXPECT_TRUE(at::equal(straight.state().optimizer.ema, second.state().optimizer.ema));
    EXPECT_TRUE(at::equal(straight.state().scales.values, second.state().scales.values));
  }
}

TEST(Qat, DistillationDrawsStatesTowardsTheFloatModel) {
  const auto distance_after = [](const char* weight) {
    const Recipe recipe =
        qat_recipe("weights = 'mxint2'\nacts = 'mxint2'\ndistill = " + std::string(weight) + "\n");
    Trainer trainer = qat_trainer(recipe);
    for (int i = 0; i < 40; ++i) trainer.step();
    const Carry& carry = trainer.carry();
    return (carry.states.h - carry.followed.h).pow(2).mean().item<double>();
  };
  EXPECT_LT(distance_after("10.0"), distance_after("1e-9"));
}

TEST(Qat, RoundingsAreLearnedWithoutLabelsAndNothingElseIs) {
  const Recipe recipe = qat_recipe(kRound);
  Trainer trainer = qat_trainer(recipe);
  const QatPlan qat = qat_plan(recipe, ".");
  const ParameterLayout layout(recipe.model);
  const at::Tensor origin = trainer.state().teacher.clone();
  for (int i = 0; i < 40; ++i) trainer.step();
  trainer.take_tally();
  const driftless::testing::TempDir dir;
  trainer.export_model(dir.path());
  const NamedTensors stored = load_weights(dir.path() / "weights.safetensors", recipe.model);
  int64_t moved = 0;
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    const at::Tensor exact = layout.view(origin, entry.name);
    const at::Tensor got = stored.at(entry.name);
    const quant::LayerPlan* const planned = qat.plan.find(entry.name);
    if (planned == nullptr) {
      EXPECT_TRUE(at::equal(got, exact)) << entry.name;
      continue;
    }
    const at::Tensor nearest =
        FakeQuantizer(planned->weights).forward(exact.unsqueeze(0), NormAxis::Channels).squeeze(0);
    moved += got.ne(nearest).sum().item<int64_t>();
    // Of three bits: the step is at least a third of the largest of 32, but for clipped ones.
    const at::Tensor apart = (got - exact).abs();
    EXPECT_LE(apart.max().item<float>(), exact.abs().max().item<float>() / 3 * 1.07f) << entry.name;
    // A value is a code times its block's scale: what the block is quantized to again.
    const at::Tensor again = FakeQuantizer(quant::parse_quant_spec("int8/block32,scale=fp16"))
                                 .forward(got.unsqueeze(0), NormAxis::Channels)
                                 .squeeze(0);
    EXPECT_LE((again - got).abs().max().item<float>(), got.abs().max().item<float>() / 100);
  }
  EXPECT_GT(moved, 0);
}

TEST(Qat, LearnedRoundingsBringStepsNearerToTheFloatModel) {
  const auto distance_after = [](const char* rate) {
    std::string text = std::string(testing::kTinyRecipe) + "[quant]\n" + kRound;
    text.replace(text.find("lr = 1e-3"), 9, std::string("lr = ") + rate);
    const Recipe recipe = parse_recipe(text, "tiny");
    Trainer trainer = qat_trainer(recipe);
    for (int i = 0; i < 60; ++i) trainer.step();
    const QatPlan qat = qat_plan(recipe, ".");
    const at::Tensor& ema = trainer.state().optimizer.ema;
    QuantizedModel model(recipe.model, qat, {ema, ema, {}}, {trainer.state().scales.ema, {}},
                         trainer.state().teacher);
    model.refresh();
    const RecursiveNet net(recipe.model, model.weights(), trainer.state().initial);
    const Teacher teacher(recipe.model, trainer.state().teacher, at::kFloat,
                          trainer.state().initial);
    const at::NoGradGuard no_gradients;
    const auto boards = testing::tiny_boards(16, 99);
    at::Tensor tokens = at::empty({16, 16}, at::kByte);
    for (int64_t i = 0; i < 16; ++i)
      std::copy_n(boards[static_cast<size_t>(i)].input.data(), 16,
                  tokens.data_ptr<uint8_t>() + 16 * i);
    const TensorStates start = net.initial_states(16);
    StateTrail trail;
    const StepOutput output = net.step(start, {tokens, {}}, {.tap = &trail});
    EXPECT_TRUE(output.states.h.defined());
    return teacher.local_distance(start, {tokens, {}}, trail).item<double>();
  };
  EXPECT_LT(distance_after("3e-3"), 0.9 * distance_after("0.0"));
}

TEST(Qat, AScaleThatVanishesStopsTheRunAndNamesItsLayer) {
  const Recipe recipe = qat_recipe(kLsq);
  Trainer trainer = qat_trainer(recipe);
  trainer.step();
  const auto slots = scale_slots(qat_plan(recipe, "."), recipe.model);
  at::Tensor scales = trainer.state().scales.values;
  const std::string layer = qat_plan(recipe, ".").plan.layers[slots[1].layer].name;
  scales[slots[1].weight_begin].fill_(-200.0);
  const driftless::testing::TempDir dir;
  expect_error(ErrorCode::Numeric, layer, [&] { trainer.save(dir.path()); });
  EXPECT_FALSE(has_run(dir.path()));
  const at::Tensor before = trainer.state().optimizer.values.clone();
  trainer.step();
  EXPECT_TRUE(at::equal(before, trainer.state().optimizer.values));
  expect_error(ErrorCode::Numeric, layer, [&] { trainer.take_tally(); });
}

TEST(Qat, WrongSectionsAreRefused) {
  const auto refuse = [](const std::string& quant, const std::string& word) {
    expect_error(ErrorCode::BadConfig, word, [&] { qat_plan(qat_recipe(quant), "."); });
  };
  refuse("", "nothing is quantized");
  refuse("weights = 'mxint5'\n", "quant.weights");
  refuse("weights = 'mxint4'\nweight_method = 'lsq'\n", "gradient rule");
  refuse("weights = 'mxint4'\nweight_method = 'lsk'\n", "did you mean 'lsq'");
  refuse("acts = 'int4/token'\nact_method = 'lsq'\n", "gradient rule");
  refuse("acts = 'uint4/tensor/static'\n", "zero points");
  refuse("acts = 'int4/token'\niteration_norm = true\n", "iteration_norm");
  refuse("weights = 'mxint4'\ncoverage = 'all'\n", "quant.coverage");
  refuse("weights = 'mxint4'\nbias = 'int16'\n", "coverage linear");
  refuse("weights = 'mxint4'\nplan = 'p.json'\n", "excludes");
  refuse("weights = 'mxint4'\ndistill = -1\n", "expected 0 to");
  refuse("wieghts = 'mxint4'\n", "did you mean 'weights'");
}

TEST(Qat, PlanFilesAreCheckedAgainstTheModel) {
  const driftless::testing::TempDir dir;
  const Recipe recipe = qat_recipe("plan = 'p.json'\n");
  const auto write = [&](const std::string& layer, const std::string& keys) {
    write_file_atomic(dir.path() / "p.json",
                      "{\"version\": 1, \"layers\": {\"" + layer + "\": {" + keys + "}}}");
  };
  const std::string layer = "L_level.layers.0.mlp.down_proj.weight";
  write("L_level.layers.7.mlp.down_proj.weight", "\"weights\": \"mxint4\"");
  expect_error(ErrorCode::BadConfig, "did you mean", [&] { qat_plan(recipe, dir.path()); });
  for (const char* key : {"hadamard", "delta"}) {
    write(layer,
          "\"weights\": \"mxint4\", \"acts\": \"mxint4\", \"" + std::string(key) + "\": true");
    expect_error(ErrorCode::BadConfig, "rotations and delta have no gradient rule",
                 [&] { qat_plan(recipe, dir.path()); });
  }
  write_file_atomic(dir.path() / "p.json",
                    "{\"version\": 1, \"attention\": \"int8\", \"layers\": {}}");
  expect_error(ErrorCode::BadConfig, "attention", [&] { qat_plan(recipe, dir.path()); });
  write(layer, "\"weights\": \"mxint2\", \"acts\": \"mxint8\"");
  EXPECT_EQ(qat_plan(recipe, dir.path()).plan.layers.size(), 1U);
}

}  // namespace
}  // namespace driftless::lab
