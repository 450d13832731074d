// SPDX-License-Identifier: Apache-2.0
// driftless bench: how fast a model runs here, beside oneDNN's bare matmuls on the same shapes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>

#include "driftless/base/machine.h"
#include "driftless/cli/command.h"
#include "driftless/cli/model_input.h"
#include "driftless/engine/cpu_reasoner.h"

namespace driftless::cli {
namespace {

struct BenchOptions {
  std::string model = default_model().string();
  int64_t batch = 8;
  int64_t threads = default_threads();
  int64_t rounds = 20;
};

/// Does nothing: what is left of a step are its matmuls.
constexpr engine::EpilogueSet kNoEpilogues = {
    .name = "none",
    .add = [](float*, const float*, int64_t) noexcept {},
    .add_sum = [](float*, const float*, const float*, int64_t) noexcept {},
    .silu_mul = [](const float*, const float*, float*, int64_t) noexcept {},
    .add_norm = [](float*, const float*, int64_t, float) noexcept {},
    .add_norm_columns = [](float*, int64_t, const float*, int64_t, int64_t, float,
                           float*) noexcept {},
    .softmax = [](float*, int64_t, float) noexcept {},
};

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
  }

  void time_step() {
    const auto start = std::chrono::steady_clock::now();
    reasoner_->step(slots_);
    seconds_.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }

  [[nodiscard]] double best_gflops() const {
    return flops_ / *std::min_element(seconds_.begin(), seconds_.end()) / 1e9;
  }
  [[nodiscard]] double median_gflops() const {
    std::vector<double> sorted = seconds_;
    std::sort(sorted.begin(), sorted.end());
    return flops_ / sorted[sorted.size() / 2] / 1e9;
  }

 private:
  std::unique_ptr<reason::Reasoner> reasoner_;
  double flops_;
  std::vector<int64_t> slots_;
  std::vector<double> seconds_;
};

void print_rate(const std::string& name, const Contender& contender, const Contender& base) {
  std::printf("%-28s %8.1f GFLOP/s best  %8.1f median   %5.1f %% of the first line\n", name.c_str(),
              contender.best_gflops(), contender.median_gflops(),
              100 * contender.best_gflops() / base.best_gflops());
}

void bench(const BenchOptions& options) {
  const store::Checkpoint checkpoint = store::load_checkpoint(options.model);
  const engine::CpuOptions full{.slots = options.batch, .threads = options.threads};
  engine::CpuOptions bare = full;
  bare.epilogues = &kNoEpilogues;
  engine::CpuOptions single = full;
  single.slots = 1;
  Contender matmuls(checkpoint, bare), steps(checkpoint, full), alone(checkpoint, single);
  // In turn, so that a busy moment of the machine meets all of them.
  for (int64_t round = 0; round < options.rounds; ++round)
    for (Contender* contender : {&matmuls, &steps, &alone}) contender->time_step();
  std::printf("%s, %s, %lld threads, f32, %lld rounds\n", options.model.c_str(),
              processor_name().c_str(), static_cast<long long>(options.threads),
              static_cast<long long>(options.rounds));
  const std::string batch = "batch " + std::to_string(options.batch);
  print_rate("bare matmuls, " + batch, matmuls, matmuls);
  print_rate("supervision steps, " + batch, steps, matmuls);
  print_rate("supervision steps, batch 1", alone, matmuls);
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
