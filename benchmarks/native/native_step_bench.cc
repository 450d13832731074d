// SPDX-License-Identifier: Apache-2.0
// Whole supervision steps: native beside the peak of the multiply instruction, the next best kernel
// set, and our float32 and bf16 paths, in turns within one run. Checks first that the native states
// equal the simulated ones, and those of the next set exactly.
//
//   native_step_bench MODEL [rounds] [batch] [weights] [acts] [threads] [attention]
//   native_step_bench PRESET:WIDTH ...  such as trm-maze:256, with random weights
//   DRIFTLESS_ISA and DNNL_MAX_CPU_ISA choose the kernels
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/base/rng.h"
#include "driftless/base/thread_pool.h"
#include "driftless/bench/peaks.h"
#include "driftless/bench/race.h"
#include "driftless/bench/random_model.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::native {
namespace {

struct Arguments {
  std::string model;
  long rounds = 20;
  long batch = 1;
  std::string weights = "mxint4,window=4";
  std::string acts = "mxint4,window=4";
  long threads = 1;
  std::string attention = "none";
};

/// A reasoner with a board of random tokens in every slot.
class Thinking {
 public:
  explicit Thinking(std::unique_ptr<reason::Reasoner> reasoner)
      : reasoner_(std::move(reasoner)), slots_(static_cast<size_t>(reasoner_->slot_count())) {
    std::iota(slots_.begin(), slots_.end(), int64_t{0});
    const model::ModelConfig& config = reasoner_->config();
    Rng rng(1);
    for (const int64_t slot : slots_) {
      std::vector<uint8_t> tokens(static_cast<size_t>(config.seq_len));
      for (uint8_t& token : tokens)
        token = static_cast<uint8_t>(rng.below(static_cast<uint64_t>(config.vocab_size)));
      reasoner_->reset(slot, {.tokens = tokens});
    }
  }
  void step() { reasoner_->step(slots_); }
  [[nodiscard]] std::vector<float> state(int64_t slot) const {
    const auto h = reasoner_->states(slot).h;
    return {h.begin(), h.end()};
  }

 private:
  std::unique_ptr<reason::Reasoner> reasoner_;
  std::vector<int64_t> slots_;
};

/// The largest distance of the native from the simulated states of one step.
float check(Thinking& native, Thinking& simulated, long batch) {
  native.step();
  simulated.step();
  float worst = 0;
  for (long slot = 0; slot < batch; ++slot) {
    const auto a = native.state(slot);
    const auto b = simulated.state(slot);
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}

store::Checkpoint load(const std::string& model) {
  const size_t colon = model.find(':');
  if (colon == std::string::npos) return store::load_checkpoint(model);
  return bench::random_preset(model.substr(0, colon),
                              std::strtol(model.c_str() + colon + 1, nullptr, 10));
}

/// The best set below the one in use; null where only the scalar one is.
const integer::KernelSet* next_kernels() {
  const auto sets = integer::available_kernels();
  const auto mine = std::find(sets.begin(), sets.end(), &integer::kernels());
  const bool has_next = sets.end() - mine > 2;
  return has_next ? *(mine + 1) : nullptr;
}

void run(const Arguments& args) {
  const store::Checkpoint checkpoint = load(args.model);
  const quant::QuantPlan plan =
      quant::resolve({.weights = quant::parse_quant_spec(args.weights),
                      .acts = quant::parse_quant_spec(args.acts),
                      .attention = quant::parse_attention_precision(args.attention)},
                     reason::linear_layers(checkpoint.config));
  const store::PackedModel packed = store::pack_model(checkpoint, plan);
  NativeOptions options{.slots = args.batch, .threads = args.threads};
  Thinking native(make_native_reasoner(packed, options));
  const integer::KernelSet* const next = next_kernels();
  options.kernels = next != nullptr ? next : &integer::kernels();
  Thinking other(make_native_reasoner(packed, options));
  Thinking simulated(
      simulate::make_cpu_reasoner(packed, {.slots = args.batch, .threads = args.threads}));
  Thinking floats(
      simulate::make_cpu_reasoner(checkpoint, {.slots = args.batch, .threads = args.threads}));
  Thinking bf16(simulate::make_cpu_reasoner(
      checkpoint,
      {.slots = args.batch, .threads = args.threads, .dtype = simulate::Dtype::BFloat16}));
  const float worst = check(native, simulated, args.batch);
  other.step();
  for (long slot = 0; slot < args.batch; ++slot)
    DRIFTLESS_REQUIRE(native.state(slot) == other.state(slot), ErrorCode::Internal,
                      "native_step_bench: ", options.kernels->name, " has other states");
  const double operations =
      static_cast<double>(args.batch * simulate::step_flops(checkpoint.config));
  ThreadPool pool(args.threads);
  std::vector<bench::Contender> contenders = {
      bench::peak_contender(bench::int8_peak(), pool),
      {.name = "native steps", .work = [&] { native.step(); }, .operations = operations},
      {.name = "float32 steps", .work = [&] { floats.step(); }, .operations = operations},
      {.name = "bf16 steps", .work = [&] { bf16.step(); }, .operations = operations},
      {.name = "simulated steps", .work = [&] { simulated.step(); }, .operations = operations}};
  if (next != nullptr)
    contenders.push_back({.name = std::string(next->name) + " steps",
                          .work = [&] { other.step(); },
                          .operations = operations});
  bench::race(contenders, args.rounds);
  const bench::Contender& native_steps = contenders[1];
  bench::repeat_while_outrun(contenders[0], native_steps.best_gflops());
  const double peak = contenders[0].best_gflops();
  bench::require_below_peak(native_steps.name, native_steps.best_gflops(), peak);
  std::printf("D %lld, batch %ld, %ld threads, weights %s, acts %s, attention %s\n",
              static_cast<long long>(checkpoint.config.hidden_size), args.batch, args.threads,
              args.weights.c_str(), args.acts.c_str(), args.attention.c_str());
  std::printf("  largest distance from the simulated state after a step: %g\n",
              static_cast<double>(worst));
  std::printf("  native %.1f GOP/s (median %.1f), %.1f %% of the int8 peak (%.1f), ",
              native_steps.best_gflops(), native_steps.median_gflops(),
              100 * native_steps.best_gflops() / peak, peak);
  for (size_t i = 2; i < contenders.size(); ++i)
    std::printf("%s%.2f x %s (medians %.2f)", i == 2 ? "" : ", ",
                native_steps.best_gflops() / contenders[i].best_gflops(),
                contenders[i].name.c_str(),
                native_steps.median_gflops() / contenders[i].median_gflops());
  std::printf("\n");
}

}  // namespace
}  // namespace driftless::native

int main(int argc, char** argv) {
  using namespace driftless;
  native::Arguments args;
  if (argc < 2) {
    std::fprintf(stderr,
                 "native_step_bench: expected MODEL [rounds] [batch] [weights] [acts] [threads] "
                 "[attention]\n");
    return 2;
  }
  args.model = argv[1];
  if (argc > 2) args.rounds = std::max(1l, std::strtol(argv[2], nullptr, 10));
  if (argc > 3) args.batch = std::max(1l, std::strtol(argv[3], nullptr, 10));
  if (argc > 4) args.weights = argv[4];
  if (argc > 5) args.acts = argv[5];
  if (argc > 7) args.attention = argv[7];
  if (argc > 6) args.threads = std::max(1l, std::strtol(argv[6], nullptr, 10));
  try {
    std::printf("%s, kernels %s, best of %ld rounds\n", processor_name().c_str(),
                std::string(integer::kernels().name).c_str(), 3 * args.rounds);
    native::run(args);
  } catch (const Error& error) {
    std::fprintf(stderr, "native_step_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
