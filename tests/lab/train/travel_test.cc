// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/travel.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/lab/train/run_state.h"
#include "driftless/store/safetensors.h"

#include "tests/lab/qat_run.h"
#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using driftless::testing::TempDir;
using driftless::testing::text_of;
using testing::tiny_pool;
using testing::tiny_recipe;

LoadedRun loaded(const std::filesystem::path& folder) {
  return load_run(folder, tiny_recipe().model, at::kFloat, at::kCPU);
}

/// The state of `folder` in another one, as it arrives on another machine.
void travel(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::create_directories(to);
  save_for_travel(from / "state.safetensors", to / "state.safetensors");
}

class Travel : public ::testing::Test {
 protected:
  Travel() {
    Trainer trainer(tiny_recipe(), tiny_pool(), testing::tiny_start(tiny_recipe()), {});
    for (int64_t i = 0; i < 12; ++i) trainer.step();
    trainer.save(here());
  }
  [[nodiscard]] std::filesystem::path here() const { return dir_.path() / "here"; }
  [[nodiscard]] std::filesystem::path there() const { return dir_.path() / "there"; }

  TempDir dir_;
};

TEST_F(Travel, TakesTenBytesAWeightAndGivesTheSameFileAgain) {
  travel(here(), there());
  const std::string file = text_of(there() / "state.safetensors");
  const auto weights = static_cast<size_t>(ParameterLayout(tiny_recipe().model).size());
  const store::Safetensors state = store::read_safetensors(there() / "state.safetensors");
  size_t bytes = 0;
  for (const auto& [name, view] : state.tensors()) bytes += view.bytes.size();
  EXPECT_EQ(bytes, 10 * weights + 2 * sizeof(float) * 32) << "and both initial states";
  travel(here(), dir_.path() / "again");
  EXPECT_EQ(text_of(dir_.path() / "again/state.safetensors"), file);
  travel(there(), dir_.path() / "further");
  EXPECT_EQ(text_of(dir_.path() / "further/state.safetensors"), file);
}

/// Each error below a unit of bfloat16 of what was rounded, and their sum within five standard
/// deviations: a rounding by a unit u varies by u^2 / 4 at most.
void expect_unbiased(const at::Tensor& got, const at::Tensor& exact, const at::Tensor& rounded) {
  const at::Tensor error = (got - exact).to(at::kDouble);
  const at::Tensor unit = rounded.abs().to(at::kDouble) * 0x1p-7;
  // Reading the average adds a float32 sum.
  const at::Tensor slack = exact.abs().to(at::kDouble) * 0x1p-23;
  EXPECT_TRUE(error.abs().le(unit + slack).all().item<bool>());
  EXPECT_GT(error.abs().max().item<double>(), 0);
  const double deviation = std::sqrt(unit.square().sum().item<double>() / 4);
  EXPECT_LT(std::abs(error.sum().item<double>()), 5 * deviation + slack.sum().item<double>());
}

TEST_F(Travel, KeepsTheWeightsAndTheMeansOfAllElse) {
  travel(here(), there());
  const LoadedRun before = loaded(here());
  const LoadedRun after = loaded(there());
  EXPECT_EQ(after.state.step, 12);
  EXPECT_EQ(after.state.recipe, before.state.recipe);
  EXPECT_FALSE(after.carry.has_value());
  const OptimizerState& a = before.state.optimizer;
  const OptimizerState& b = after.state.optimizer;
  EXPECT_TRUE(at::equal(a.values, b.values));
  EXPECT_TRUE(at::equal(before.state.initial.h, after.state.initial.h));
  expect_unbiased(b.moment1, a.moment1, a.moment1);
  expect_unbiased(b.moment2, a.moment2, a.moment2);
  expect_unbiased(b.ema, a.ema, a.ema - a.values);
}

TEST(TravelOfQuantizedRuns, KeepsScalesAndRoundsNoTeacher) {
  const TempDir dir;
  const Recipe recipe = testing::qat_recipe(
      "weights = \"int4/tensor\"\nacts = \"int4/tensor/static\"\nact_method = \"lsq\"\n"
      "distill = 1\n");
  Trainer trainer = testing::qat_trainer(recipe);
  trainer.step();
  trainer.save(dir.path() / "here");
  travel(dir.path() / "here", dir.path() / "there");
  const LoadedRun before = loaded(dir.path() / "here");
  const LoadedRun after = loaded(dir.path() / "there");
  EXPECT_TRUE(at::equal(before.state.teacher, after.state.teacher));
  EXPECT_TRUE(at::equal(before.state.scales.values, after.state.scales.values));
  EXPECT_TRUE(at::equal(before.state.scales.moment1, after.state.scales.moment1));
  EXPECT_TRUE(at::equal(before.state.scales.ema, after.state.scales.ema));
}

TEST_F(Travel, NamesWhatIsWrongWithAState) {
  const std::filesystem::path state = here() / "state.safetensors";
  std::filesystem::create_directory(there());
  const std::filesystem::path out = there() / "state.safetensors";
  LoadedRun run = loaded(here());
  run.state.optimizer.moment2[3] = std::numeric_limits<float>::infinity();
  save_run(here(), run.state, *run.carry);
  expect_error(ErrorCode::Numeric, "'moment2'; got inf at 3", [&] { save_for_travel(state, out); });
  std::filesystem::resize_file(state, std::filesystem::file_size(state) - 1);
  expect_error(ErrorCode::BadFile, "state.safetensors", [&] { save_for_travel(state, out); });
  EXPECT_FALSE(std::filesystem::exists(out));
  store::write_safetensors(out, {}, {{"step", "3"}, {"recipe", ""}});
  expect_error(ErrorCode::BadFile, "no tensor 'values'", [&] { loaded(there()); });
}

constexpr int64_t kSteps = 120;

/// Cells right after a run that moves to another machine after every `leg` steps.
double cells_after_legs(int64_t seed, int64_t leg) {
  const TempDir dir;
  Recipe recipe = tiny_recipe();
  recipe.seed = seed;
  LoadedRun run = testing::tiny_start(recipe);
  for (int64_t step = 0;;) {
    Trainer trainer(recipe, tiny_pool(), run, {});
    for (const int64_t end = step + leg; step < end; ++step) trainer.step();
    if (step == kSteps) return trainer.evaluate(testing::tiny_boards(100, 8)).cells.mean();
    trainer.save(dir.path() / "here");
    travel(dir.path() / "here", dir.path() / "there");
    run = loaded(dir.path() / "there");
  }
}

TEST(TravellingRuns, EndWithinTheNoiseOfSeedsWhereOthersEnd) {
  constexpr int64_t kSeeds = 4;
  // So early hardly a board halts before its last step, and legs end where all boards do: what
  // moving changes is the rounding alone.
  const int64_t leg = 5 * tiny_recipe().model.halt_max_steps;
  std::vector<double> whole;
  double moved_apart = 0;
  for (int64_t seed = 1; seed <= kSeeds; ++seed) {
    whole.push_back(cells_after_legs(seed, kSteps));
    moved_apart += std::pow(cells_after_legs(seed, leg) - whole.back(), 2) / kSeeds;
  }
  const double mean = std::accumulate(whole.begin(), whole.end(), 0.0) / kSeeds;
  double variance = 0;
  for (const double cells : whole) variance += std::pow(cells - mean, 2) / (kSeeds - 1);
  RecordProperty("rms_of_moves", std::to_string(std::sqrt(moved_apart)));
  RecordProperty("sd_of_seeds", std::to_string(std::sqrt(variance)));
  EXPECT_LT(std::sqrt(moved_apart), std::sqrt(variance));
  EXPECT_GT(moved_apart, 0) << "the run has not moved";
}

}  // namespace
}  // namespace driftless::lab
