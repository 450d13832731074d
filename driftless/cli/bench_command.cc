// SPDX-License-Identifier: Apache-2.0
// driftless bench: how fast a model runs here, beside oneDNN's bare matmuls on the same shapes.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/cli/command.h"
#include "driftless/cli/model_input.h"
#include "driftless/engine/cpu_reasoner.h"

namespace driftless::cli {
namespace {

using engine::Dtype;

struct BenchOptions {
  std::string model = default_model().string();
  int64_t batch = 8;
  int64_t threads = default_threads();
  int64_t rounds = 20;
};

/// Does nothing: what is left of a step are its matmuls.
constexpr loop::EpilogueSet kNoEpilogues = {
    .name = "none",
    .add = [](float*, const float*, int64_t) noexcept {},
    .add_sum = [](float*, const float*, const float*, int64_t) noexcept {},
    .silu_mul = [](const float*, const float*, float*, int64_t) noexcept {},
    .add_norm = [](float*, const float*, int64_t, float) noexcept {},
    .add_norm_columns = [](float*, int64_t, const float*, int64_t, int64_t, float,
                           float*) noexcept {},
    .softmax = [](float*, int64_t, float) noexcept {},
    .multiply = [](const loop::FloatProductArgs&) noexcept {},
};

/// What is timed, with the batch of the flags or a single board, and its row.
constexpr size_t kBare = 0, kFloat = 1, kFloatSingle = 2, kBf16 = 3, kBf16Single = 4;
struct KindRow {
  const char* name;
  Dtype dtype;
  bool is_single;
  const loop::EpilogueSet* epilogues;
};
constexpr std::array<KindRow, 5> kKinds = {
    {{"f32 matmuls alone", Dtype::Float32, false, &kNoEpilogues},
     {"f32 steps", Dtype::Float32, false, nullptr},
     {"f32 steps", Dtype::Float32, true, nullptr},
     {"bf16 steps", Dtype::BFloat16, false, nullptr},
     {"bf16 steps", Dtype::BFloat16, true, nullptr}}};

/// What the rates are meant to be, as one over the other.
struct Goal {
  const char* text;
  size_t rate, base;  // rows of kKinds
  double least;
};
constexpr std::array<Goal, 3> kGoals = {
    {{"f32 steps / their matmuls alone", kFloat, kBare, 0.85},
     {"bf16 steps / f32 steps", kBf16, kFloat, 1.7},
     {"f32 single board / f32 batch", kFloatSingle, kFloat, 0.75}}};
constexpr double kMostMebibytes = 64;  // beside the weights

/// One configuration under test and the times of its steps.
class Contender {
 public:
  Contender(const store::Checkpoint& checkpoint, const engine::CpuOptions& options)
      : reasoner_(engine::make_cpu_reasoner(checkpoint, options)),
        flops_(static_cast<double>(engine::step_flops(checkpoint.config) * options.slots)),
        slots_(static_cast<size_t>(options.slots)) {
    std::iota(slots_.begin(), slots_.end(), 0);
    // A board of ones (all blank): the time of a step does not depend on what the board holds.
    const std::vector<uint8_t> blank(static_cast<size_t>(checkpoint.config.seq_len), 1);
    for (const int64_t slot : slots_) reasoner_->reset(slot, {.tokens = blank});
    reasoner_->step(slots_);
    for (const float logit : reasoner_->read(slots_.back()).logits) first_logits_.push_back(logit);
  }

  void time_step() {
    const auto start = std::chrono::steady_clock::now();
    reasoner_->step(slots_);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    gflops_.push_back(flops_ / passed.count() / 1e9);
  }

  /// Of each round.
  [[nodiscard]] const std::vector<double>& gflops() const { return gflops_; }
  /// After the first step, which all contenders of one number type must agree on.
  [[nodiscard]] const std::vector<float>& first_logits() const { return first_logits_; }

 private:
  std::unique_ptr<reason::Reasoner> reasoner_;
  double flops_;
  std::vector<int64_t> slots_;
  std::vector<double> gflops_;
  std::vector<float> first_logits_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Weights as float32 against all that the process holds at its fullest.
void print_memory(const store::Checkpoint& checkpoint, int64_t peak_bytes) {
  constexpr double kMebibyte = 1 << 20;
  double weights = 0;
  for (const auto& [name, tensor] : checkpoint.tensors)
    weights += static_cast<double>(tensor.values.size() * sizeof(float)) / kMebibyte;
  const double rest = static_cast<double>(peak_bytes) / kMebibyte - weights;
  std::printf("%-36s %6.1f MiB  (goal at most %.0f: %s), weights %.1f MiB\n",
              "f32 batch, memory beside the weights", rest, kMostMebibytes,
              rest <= kMostMebibytes ? "reached" : "missed", weights);
}

void print_goal(const Goal& goal, const std::vector<Contender>& contenders) {
  std::vector<double> ratios;
  for (size_t round = 0; round < contenders[goal.rate].gflops().size(); ++round)
    ratios.push_back(contenders[goal.rate].gflops()[round] / contenders[goal.base].gflops()[round]);
  const double ratio = median(ratios);
  std::printf("%-36s %6.3f      (goal at least %.2f: %s)\n", goal.text, ratio, goal.least,
              ratio >= goal.least ? "reached" : "missed");
}

void bench(const BenchOptions& options) {
  const store::Checkpoint checkpoint = store::load_checkpoint(options.model);
  std::vector<Contender> contenders;
  int64_t peak_bytes = 0;
  for (const KindRow& kind : kKinds) {
    contenders.emplace_back(checkpoint,
                            engine::CpuOptions{.slots = kind.is_single ? 1 : options.batch,
                                               .threads = options.threads,
                                               .dtype = kind.dtype,
                                               .epilogues = kind.epilogues});
    // The bare matmuls need what the steps need.
    if (contenders.size() == 1) peak_bytes = peak_memory_bytes();
  }
  for (const auto& [batch, single] : {std::pair{kFloat, kFloatSingle}, {kBf16, kBf16Single}})
    DRIFTLESS_REQUIRE(contenders[batch].first_logits() == contenders[single].first_logits(),
                      ErrorCode::Internal,
                      "bench: a single board got other logits than in a batch");
  // In turn, so that a busy moment of the machine meets all of them.
  for (int64_t round = 0; round < options.rounds; ++round)
    for (Contender& contender : contenders) contender.time_step();

  std::printf("%s, %s, %lld threads, %lld rounds\n", options.model.c_str(),
              processor_name().c_str(), static_cast<long long>(options.threads),
              static_cast<long long>(options.rounds));
  for (size_t i = 0; i < kKinds.size(); ++i) {
    const std::vector<double>& gflops = contenders[i].gflops();
    const int64_t batch = kKinds[i].is_single ? 1 : options.batch;
    const std::string name = kKinds[i].name + (", batch " + std::to_string(batch));
    std::printf("%-36s %6.1f GFLOP/s median  %6.1f best\n", name.c_str(), median(gflops),
                *std::max_element(gflops.begin(), gflops.end()));
  }
  std::printf("\nmedians over the rounds\n");
  for (const Goal& goal : kGoals) print_goal(goal, contenders);
  print_memory(checkpoint, peak_bytes);
}

}  // namespace

void add_bench_command(CLI::App& verb) {
  auto options = std::make_shared<BenchOptions>();
  verb.add_option("--model", options->model, "checkpoint (default: the bundled Sudoku model)");
  verb.add_option("--batch", options->batch, "boards at a time")->capture_default_str();
  verb.add_option("--threads", options->threads, "threads")->capture_default_str();
  verb.add_option("--rounds", options->rounds, "steps to time of each kind")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  show_example(verb, "driftless bench --threads 2");
  verb.require_subcommand(0, 1);
  add_bench_train_command(*verb.add_subcommand("train", "how fast a training step is here"));
  verb.callback([options, &verb] {
    if (verb.get_subcommands().empty()) bench(*options);
  });
}

}  // namespace driftless::cli
