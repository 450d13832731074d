// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/base/files/folder_lock.h"
#include "driftless/base/files/text_file.h"
#include "driftless/lab/check/bench.h"
#include "driftless/lab/check/check.h"
#include "driftless/lab/data/pool.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/narrow.h"
#include "driftless/lab/net/sublayers.h"
#include "driftless/lab/quant/qat_plan.h"
#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/lab/train/train_loop.h"
#include "driftless/lab/train/travel.h"
#include "driftless/lab/widen.h"
#include "driftless/reason/plan/calibrate.h"
#include "driftless/store/checkpoint.h"

namespace driftless::lab {
namespace {

Recipe read_recipe(const std::filesystem::path& path) {
  return parse_recipe(read_text(path), path.string());
}

/// The plan with static scales of activations, from the float model's on boards of the pool.
quant::QuantPlan calibrated(const Recipe& recipe, const QatPlan& qat, const BoardPool& pool,
                            const NamedTensors& weights, const std::string& device) {
  quant::QuantPlan plan = qat.plan;
  if (!plan.needs_calibration()) return plan;
  Rng rng(static_cast<uint64_t>(recipe.seed));
  std::vector<task::Example> drawn;
  drawn.reserve(static_cast<size_t>(recipe.quant.calibration_boards));
  std::vector<reason::Board> boards;
  boards.reserve(drawn.capacity());
  for (int64_t i = 0; i < recipe.quant.calibration_boards; ++i) {
    drawn.push_back(pool.draw(rng));
    boards.push_back({.tokens = drawn.back().input,
                      .puzzle = drawn.back().puzzle,
                      .seed = static_cast<uint64_t>(i),
                      .number = i});
  }
  const store::Checkpoint checkpoint = to_checkpoint(recipe.model, weights);
  reason::calibrate(
      [&](const quant::QuantPlan*) {
        return make_torch_reasoner(checkpoint, {.device = device, .slots = std::ssize(boards)});
      },
      boards, plan);
  return plan;
}

LoadedRun starting_run(const TrainRequest& request, const Recipe& recipe, const BoardPool& pool,
                       const TrainerOptions& options) {
  if (request.is_resumed)
    return load_run(request.out, recipe.model, activation_type(options.device), options.device);
  Rng rng(static_cast<uint64_t>(recipe.seed));
  const NamedTensors weights = request.from.empty() ? initial_weights(recipe.model, rng)
                                                    : load_weights(request.from, recipe.model);
  LoadedRun run{fresh_run(recipe, weights, options.device), std::nullopt};
  if (!options.qat) return run;
  const quant::QuantPlan plan = calibrated(recipe, *options.qat, pool, weights, request.device);
  run.state.scales = fresh_optimizer_state(
      starting_scales(*options.qat, plan, recipe.model, weights).to(options.device), at::kFloat);
  if (recipe.quant.distill > 0) run.state.teacher = run.state.optimizer.values.clone();
  return run;
}

void require_kind(const TrainRequest& request, const Recipe& recipe) {
  const std::string where = request.recipe.string();
  DRIFTLESS_REQUIRE(request.is_qat || !recipe.has_quant, ErrorCode::BadConfig, where,
                    ": has a section [quant]; use driftless qat");
  DRIFTLESS_REQUIRE(!request.is_qat || recipe.has_quant, ErrorCode::BadConfig, where,
                    ": no section [quant]; it says what driftless qat quantizes");
  DRIFTLESS_REQUIRE(!request.is_qat || request.is_resumed || !request.from.empty(),
                    ErrorCode::InvalidArgument,
                    "qat: no weights to start from; expected --from CHECKPOINT or --resume");
}

std::optional<QatPlan> plan_for(const TrainRequest& request, const Recipe& recipe) {
  if (!recipe.has_quant) return std::nullopt;
  return qat_plan(recipe, request.recipe.parent_path());
}

void require_place(const TrainRequest& request) {
  if (request.is_resumed) {
    DRIFTLESS_REQUIRE(request.from.empty(), ErrorCode::InvalidArgument,
                      "--resume and --from; expected one of them");
    DRIFTLESS_REQUIRE(has_run(request.out), ErrorCode::InvalidArgument, request.out.string(),
                      ": no run to resume; leave --resume out to start one");
    return;
  }
  DRIFTLESS_REQUIRE(!has_run(request.out), ErrorCode::InvalidArgument, request.out.string(),
                    ": holds a run; add --resume to go on with it or give another --out");
  DRIFTLESS_REQUIRE(!std::filesystem::exists(request.out / "weights.safetensors"),
                    ErrorCode::InvalidArgument, request.out.string(),
                    ": holds the weights of a run and no state to go on from; give another --out");
}

/// mixers_note() of what is trained: what multiplies quantized inputs is never fused.
std::string trained_mixers_note(const Recipe& recipe, const std::optional<QatPlan>& qat,
                                at::Device device) {
  const bool has_quantized_inputs =
      qat && std::any_of(qat->plan.layers.begin(), qat->plan.layers.end(),
                         [](const quant::LayerPlan& layer) { return !layer.acts.is_none(); });
  return has_quantized_inputs ? "mixers: apart, since their inputs are quantized"
                              : mixers_note(recipe.model, device);
}

double median_step_ms(Trainer& trainer, int64_t steps) {
  constexpr int64_t kPerSample = 5;  // buries the wait for the device
  std::vector<double> samples;
  for (int64_t done = 0; done < std::max<int64_t>(steps, kPerSample); done += kPerSample) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < kPerSample; ++i) trainer.step();
    trainer.take_tally();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
    samples.push_back(wall.count() / kPerSample);
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

}  // namespace

EndOfRun run_training(const TrainRequest& request, const TrainListener& listener) {
  Recipe recipe = read_recipe(request.recipe);
  require_kind(request, recipe);
  require_place(request);
  const std::vector<std::string> puzzles = fit_puzzle_table(recipe, request.data);
  const std::optional<QatPlan> qat = plan_for(request, recipe);
  const RankPlace place = find_place([](const char* name) { return std::getenv(name); });
  slots_per_rank(recipe, place.size);
  const at::Device device = find_device(request.device, place.local_rank);
  const StreamScope stream(device);
  const bool is_first = place.rank == 0;
  const Talk quiet = [](std::string_view) {};
  const std::vector<task::Example> held_out = read_held_out(recipe, request.data);
  BoardPool pool = read_pool(recipe, request.data, held_out, is_first ? listener.talk : quiet);
  const TrainerOptions options{device, request.chunk, join_ranks(place, device), qat,
                               listener.should_stop};
  LoadedRun run = starting_run(request, recipe, pool, options);
  require_resumable(recipe, run.state.recipe);
  Trainer trainer(recipe, std::move(pool), std::move(run), options);
  listener.on_start();
  std::optional<FolderLock> lock;
  if (is_first) {
    if (device.is_cuda()) listener.talk(trained_mixers_note(recipe, qat, device));
    std::filesystem::create_directories(request.out);
    lock.emplace(request.out, "name another --out");
    write_file_atomic(request.out / "recipe.txt", describe_text(recipe));
    if (!puzzles.empty())
      write_file_atomic(request.out / "identifiers.json", nlohmann::json(puzzles).dump() + "\n");
  }
  LoopOptions loop;
  loop.folder = request.out;
  loop.max_seconds = request.max_seconds;
  loop.eval_boards = held_out;
  loop.report = listener.report;
  loop.should_stop = listener.should_stop;
  return train(trainer, loop);
}

TrainBench bench_training(const TrainRequest& request, int64_t steps,
                          const BenchListener& listener) {
  constexpr int64_t kWarmUp = 10;
  Recipe recipe = read_recipe(request.recipe);
  fit_puzzle_table(recipe, request.data);
  const at::Device device = find_device(request.device);
  const StreamScope stream(device);
  const BenchShape shape{recipe.model, recipe.batch};
  TrainBench result;
  result.peak_gflops = measured_peak_gflops(device);
  if (device.is_cuda()) listener.talk(mixers_note(recipe.model, device));
  bench_pieces(shape, device,
               [&](const BenchResult& piece) { listener.report(piece, result.peak_gflops); });
  const std::vector<task::Example> held_out = read_held_out(recipe, request.data);
  BoardPool pool = read_pool(recipe, request.data, held_out, [](std::string_view) {});
  const TrainerOptions options{
      .device = device, .chunk = request.chunk, .qat = plan_for(request, recipe)};
  LoadedRun run = starting_run(request, recipe, pool, options);
  Trainer trainer(recipe, std::move(pool), std::move(run), options);
  for (int64_t i = 0; i < kWarmUp; ++i) trainer.step();
  trainer.take_tally();
  result.ms_per_step = median_step_ms(trainer, steps);
  result.step_gflop = step_gflop(shape);
  return result;
}

void run_check(const std::string& device_name, const MakeNative& make_native, const Talk& talk) {
  const at::Device device = find_device(device_name);
  const StreamScope stream(device);
  const bool all_passed = check_device(device, make_native, [&](const CheckResult& result) {
    char line[160];
    std::snprintf(line, sizeof(line), "%-4s %-52s error %.2e bound %.2e",
                  result.passed() ? "ok" : "FAIL", result.name.c_str(), result.error, result.bound);
    talk(line);
  });
  DRIFTLESS_REQUIRE(all_passed, ErrorCode::Numeric,
                    "check: the device computes something else than the CPU");
}

void run_disjoint(const TrainRequest& request, const Talk& talk) {
  require_disjoint(read_recipe(request.recipe), request.data, talk);
}

void run_widen(const WidenRequest& request, const Talk& talk) {
  const model::ModelConfig config = store::load_checkpoint(request.weights).config;
  Rng rng(request.seed);
  const NamedTensors narrow = load_weights(request.weights, config);
  const NamedTensors wide = widened_weights(config, narrow, find_split(request.split), rng);
  save_weights(request.out, widened_config(config), wide, 0, store::DType::F32);
  const Tails before = split_tails(config, narrow, narrow);
  const Tails after = split_tails(config, narrow, wide);
  char line[128];
  std::snprintf(line, sizeof(line),
                "split weights: kurtosis %.2f before, %.2f after; largest over rms %.2f, %.2f",
                before.kurtosis, after.kurtosis, before.largest, after.largest);
  talk(line);
}

void run_narrow(const std::filesystem::path& weights, const std::filesystem::path& out,
                int64_t width, double expansion) {
  const model::ModelConfig config = store::load_checkpoint(weights).config;
  const model::ModelConfig narrow = narrowed_config(config, {width, expansion});
  save_weights(out, narrow, narrowed_weights(config, load_weights(weights, config), narrow), 0,
               store::DType::F32);
}

void run_travel(const std::filesystem::path& state, const std::filesystem::path& out) {
  save_for_travel(state, out);
}

}  // namespace driftless::lab
