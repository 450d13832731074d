// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "driftless/base/error.h"
#include "driftless/bench/energy.h"
#include "driftless/bench/peaks.h"
#include "driftless/bench/race.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/run.h"
#include "driftless/simulate/cpu_reasoner.h"
#include "driftless/store/packed_model.h"

namespace driftless::bench {
namespace {

using simulate::Dtype;

/// Does nothing: what is left of a step are its matmuls.
constexpr loop::EpilogueSet kNoEpilogues = {
    .name = "none",
    .add = [](float*, const float*, int64_t) noexcept {},
    .add_sum = [](float*, const float*, const float*, int64_t) noexcept {},
    .subtract = [](const float*, const float*, float*, int64_t) noexcept {},
    .add_up = [](float*, float*, int64_t) noexcept {},
    .add_bytes = [](float*, const uint8_t*, int64_t, uint8_t, float) noexcept {},
    .silu_mul = [](const float*, const float*, float*, int64_t) noexcept {},
    .add_norm = [](float*, const float*, int64_t, float) noexcept {},
    .add_norm_columns = [](float*, int64_t, const float*, int64_t, int64_t, float) noexcept {},
    .softmax = [](float*, int64_t, float) noexcept {},
    .share_codes = [](const float*, int64_t, float, uint8_t, uint8_t*) noexcept { return 1; },
    .multiply = [](const loop::FloatProductArgs&) noexcept {},
    .multiply_rounded = [](const loop::FloatProductArgs&) noexcept {},
    .to_bf16 = [](const float*, uint16_t*, int64_t) noexcept {},
};

quant::QuantPlan plan_of(const store::Checkpoint& checkpoint, const char* weights, const char* acts,
                         quant::AttentionPrecision attention) {
  return quant::resolve({.weights = quant::parse_quant_spec(weights),
                         .acts = quant::parse_quant_spec(acts),
                         .attention = attention},
                        reason::linear_layers(checkpoint.config));
}

Path cpu_path(std::string name, const store::Checkpoint& checkpoint, Dtype dtype) {
  return {std::move(name), [&checkpoint, dtype](const StepShape& shape) {
            return simulate::make_cpu_reasoner(
                checkpoint, {.slots = shape.batch, .threads = shape.threads, .dtype = dtype});
          }};
}

using Packed = std::shared_ptr<const store::PackedModel>;

Packed packed(const store::Checkpoint& checkpoint, const char* weights, const char* acts,
              quant::AttentionPrecision attention = quant::AttentionPrecision::Float) {
  return std::make_shared<const store::PackedModel>(
      store::pack_model(checkpoint, plan_of(checkpoint, weights, acts, attention)));
}

MakeReasoner simulate(const Packed& model) {
  return [model](const StepShape& shape) {
    return simulate::make_cpu_reasoner(*model, {.slots = shape.batch, .threads = shape.threads});
  };
}

Path native_path(std::string name, const Packed& model) {
  return {std::move(name),
          [model](const StepShape& shape) {
            return native::make_native_reasoner(*model,
                                                {.slots = shape.batch, .threads = shape.threads});
          },
          simulate(model)};
}

/// A reasoner that is ready to step, and what it said after its first step.
struct Runner {
  std::unique_ptr<reason::Reasoner> reasoner;
  std::vector<int64_t> slots;
  std::vector<float> first_logits;

  Runner(const StepEntry& entry, std::span<const reason::Board> boards)
      : reasoner(entry.path.make(entry.shape)), slots(static_cast<size_t>(entry.shape.batch)) {
    std::iota(slots.begin(), slots.end(), 0);
    for (const int64_t slot : slots)
      reasoner->reset(slot, boards[static_cast<size_t>(slot) % boards.size()]);
    reasoner->step(slots);
    const auto logits = reasoner->read(0).logits;
    first_logits.assign(logits.begin(), logits.end());
  }
};

/// What a path says of the first board must not depend on threads and neighbors.
void require_same_answers(std::span<const StepEntry> entries, const std::vector<Runner>& runners) {
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < runners.size(); ++i) {
    const size_t other = first.try_emplace(entries[i].path.name, i).first->second;
    DRIFTLESS_REQUIRE(runners[i].first_logits == runners[other].first_logits, ErrorCode::Internal,
                      "bench: ", entries[i].path.name,
                      " gave a single board other logits than a batch");
  }
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

/// Sums that round in another place move some codes of the next quantizer, and the network calls of
/// a step make more of that. It stays less than what quantizing itself does to the logits; a wrong
/// product would not.
void require_like_reference(const StepEntry& entry, const Runner& runner,
                            const store::Checkpoint& checkpoint,
                            std::span<const reason::Board> boards) {
  if (!entry.path.reference) return;
  const Runner reference({{entry.path.name, entry.path.reference}, {}}, boards);
  const Runner floats({cpu_path(kBasePath, checkpoint, Dtype::Float32), {}}, boards);
  const double error = distance(runner.first_logits, reference.first_logits);
  const double most = distance(reference.first_logits, floats.first_logits);
  DRIFTLESS_REQUIRE(error < most, ErrorCode::Internal, "bench: ", entry.path.name,
                    " gave other logits than its simulation; distance ", error,
                    ", expected less than the simulation's from float, ", most);
}

}  // namespace

std::vector<Path> step_paths(const store::Checkpoint& checkpoint) {
  const Packed mxint4 = packed(checkpoint, "mxint4,window=4", "mxint4,window=4");
  std::vector<Path> paths = {
      cpu_path(kBasePath, checkpoint, Dtype::Float32),
      cpu_path("bf16", checkpoint, Dtype::BFloat16),
      {"simulated mxint4", simulate(mxint4)},
      native_path("native mxint4", mxint4),
      native_path("native int8", packed(checkpoint, "int8/channel", "int8/token"))};
  if (checkpoint.config.mixer == model::Mixer::Attention)
    paths.push_back(native_path(
        "native mxint4, attention int8",
        packed(checkpoint, "mxint4,window=4", "mxint4,window=4", quant::AttentionPrecision::Int8)));
  return paths;
}

Path bare_path(const store::Checkpoint& checkpoint) {
  return {"f32 matmuls alone", [&checkpoint](const StepShape& shape) {
            return simulate::make_cpu_reasoner(
                checkpoint,
                {.slots = shape.batch, .threads = shape.threads, .epilogues = &kNoEpilogues});
          }};
}

double StepRow::median_gflops() const { return median(gflops); }
double StepRow::best_gflops() const { return *std::max_element(gflops.begin(), gflops.end()); }

double median_ratio(const StepRow& row, const StepRow& base) {
  std::vector<double> ratios;
  ratios.reserve(row.gflops.size());
  for (size_t round = 0; round < row.gflops.size(); ++round)
    ratios.push_back(row.gflops[round] / base.gflops[round]);
  return median(std::move(ratios));
}

StepRace race_steps(std::span<const StepEntry> entries, const store::Checkpoint& checkpoint,
                    std::span<const reason::Board> boards, int64_t rounds) {
  StepRace race;
  std::vector<Runner> runners;
  runners.reserve(entries.size());
  int64_t threads = 1;
  for (const StepEntry& entry : entries) {
    runners.emplace_back(entry, boards);
    require_like_reference(entry, runners.back(), checkpoint, boards);
    race.rows.push_back({.path = entry.path.name, .shape = entry.shape});
    threads = std::max(threads, entry.shape.threads);
  }
  require_same_answers(entries, runners);
  const auto flops = static_cast<double>(simulate::step_flops(checkpoint.config));
  ThreadPool one(1);
  ThreadPool all(threads);
  std::vector<Contender> peaks = {peak_contender(int8_peak(), one),
                                  peak_contender(int8_peak(), all)};
  EnergyMeter meter;
  race.has_energy = meter.is_exposed();
  for (int64_t round = 0; round < rounds; ++round) {
    bench::race(peaks, 1);
    for (size_t i = 0; i < runners.size(); ++i) {
      meter.start();
      const double seconds = seconds_of([&] { runners[i].reasoner->step(runners[i].slots); });
      race.rows[i].joules += meter.joules().value_or(0);
      race.rows[i].gflops.push_back(flops * static_cast<double>(entries[i].shape.batch) / seconds /
                                    1e9);
    }
  }
  for (const StepRow& row : race.rows)
    if (row.path.starts_with("native"))
      repeat_while_outrun(peaks[row.shape.threads == 1 ? 0 : 1], row.best_gflops());
  race.int8_peak_gflops_1 = peaks[0].best_gflops();
  race.int8_peak_gflops_n = peaks[1].best_gflops();
  for (const StepRow& row : race.rows)
    if (row.path.starts_with("native"))
      require_below_peak(row.path + " steps", row.best_gflops(), race.int8_peak_gflops(row.shape));
  return race;
}

HaltingRate halting_rate(const Path& path, const StepShape& shape,
                         std::span<const reason::Board> boards) {
  const auto reasoner = path.make(shape);
  int64_t steps = 0;
  const double seconds = seconds_of([&] {
    reason::run(
        *reasoner, boards,
        {.halting = reason::find_halting("halt"), .max_steps = reasoner->config().halt_max_steps},
        [&](int64_t, const reason::Answer& answer) { steps += answer.steps; });
  });
  const auto count = static_cast<double>(boards.size());
  return {count / seconds, static_cast<double>(steps) / count};
}

}  // namespace driftless::bench
