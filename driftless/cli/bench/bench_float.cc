// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/bench/bench_float.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/base/thread_pool.h"
#include "driftless/bench/calm.h"
#include "driftless/bench/gemm.h"
#include "driftless/bench/peaks.h"
#include "driftless/bench/random_model.h"
#include "driftless/bench/steps.h"
#include "driftless/cli/bench/bench_steps.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/reason/boards.h"
#include "driftless/run/boards.h"
#include "driftless/run/model.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Boards to think about; the examples own the tokens.
struct BenchBoards {
  std::vector<task::Example> examples;
  std::vector<reason::Board> boards;
};

/// The boards given, or the bundled ones where they fit; "" for none.
std::string bench_data(const store::Checkpoint& checkpoint, const FloatBenchOptions& options) {
  if (!options.data.empty()) return options.data;
  const task::Task& task = run::task_of(checkpoint);
  const std::string bundled = or_bundled("models/demo-" + checkpoint.config.task + ".csv");
  std::error_code ignored;
  const bool fits =
      checkpoint.config.seq_len == task.seq_len && std::filesystem::exists(bundled, ignored);
  return fits ? bundled : "";
}

BenchBoards read_bench_boards(const store::Checkpoint& checkpoint,
                              const FloatBenchOptions& options) {
  BenchBoards result;
  const std::string path = bench_data(checkpoint, options);
  if (path.empty()) {
    result.examples.resize(1);
    result.examples[0].input.assign(static_cast<size_t>(checkpoint.config.seq_len), 1);
  } else {
    result.examples = run::read_boards(
        run::task_of(checkpoint),
        {.path = path, .limit = options.boards > 0 ? options.boards : kFloatBenchBoards});
    run::require_fits(checkpoint, result.examples, path);
  }
  result.boards = reason::boards_of(result.examples, 0);
  return result;
}

store::Checkpoint load_bench_model(const FloatBenchOptions& options) {
  DRIFTLESS_REQUIRE(options.width == 0 || !options.preset.empty(), ErrorCode::InvalidArgument,
                    "--width: of a preset; expected --preset NAME");
  if (options.preset.empty()) return load_float_model(options.model);
  return bench::random_preset(options.preset, options.width);
}

constexpr double kMostMebibytes = 64;  // beside the weights

class Report {
 public:
  explicit Report(const FloatBenchOptions& options)
      : options_(options), checkpoint_(load_bench_model(options)) {}

  void run() {
    bench::keep_onednn_to_vectors();
    // What cannot run fails before anything is timed.
    const BenchBoards boards = read_bench_boards(checkpoint_, options_);
    (void)simulate::make_cpu_reasoner(checkpoint_,
                                      {.slots = options_.batch, .threads = options_.threads});
    f32_peak_bytes_ = peak_memory_bytes();
    ThreadPool pool(options_.threads);
    const bench::Calm before = during("waiting for a calm machine", [&] {
      return bench::wait_for_calm(pool, options_.patience_s);
    });
    std::fprintf(out_, "%s, %s, native kernels %s, %lld threads, %lld rounds\nmachine: %s\n",
                 options_.model.c_str(), processor_name().c_str(),
                 std::string(integer::kernels().name).c_str(),
                 static_cast<long long>(options_.threads), static_cast<long long>(options_.rounds),
                 to_string(before).c_str());
    json_ = {{"model", model_name()},       {"processor", processor_name()},
             {"compiler", compiler_name()}, {"native_kernels", integer::kernels().name},
             {"threads", options_.threads}, {"rounds", options_.rounds}};
    run_peaks(pool);
    run_gemms();
    StepsBench({model_name(), options_.batch, options_.threads, options_.rounds}, checkpoint_, out_,
               json_)
        .run(boards.boards);
    report_memory();
    const bench::Calm after = bench::wait_for_calm(pool, 0);
    std::fprintf(out_, "machine afterwards: %s\n", to_string(after).c_str());
    json_["calm"] = {{"is_calm", before.is_calm && after.is_calm},
                     {"waited_s", before.waited_s},
                     {"before", calm_json(before)},
                     {"after", calm_json(after)}};
    write_output(options_.json, json_.dump(2) + "\n");
  }

 private:
  [[nodiscard]] std::string model_name() const {
    if (options_.preset.empty()) return options_.model;
    return options_.preset + ", width " + std::to_string(checkpoint_.config.hidden_size) +
           ", random weights";
  }

  static Json calm_json(const bench::Calm& calm) {
    return {{"is_calm", calm.is_calm},
            {"peak_spread", calm.peak_spread},
            {"foreign_share", calm.foreign_share}};
  }

  void run_peaks(ThreadPool& pool) {
    std::fprintf(out_, "\npeaks, on registers alone\n%-36s %8s %10s %10s %9s\n", "kernel",
                 "threads", "GFLOP/s", "best", "of int8");
    json_["peaks"] = Json::array();
    ThreadPool one(1);
    for (ThreadPool* const threads : {&one, &pool}) {
      if (threads == &pool && pool.thread_count() == 1) continue;
      std::vector<bench::Contender> peaks;
      const std::vector<bench::PeakKernel> kernels = bench::peak_kernels();
      peaks.reserve(kernels.size());
      for (const bench::PeakKernel& kernel : kernels)
        peaks.push_back(bench::peak_contender(kernel, *threads));
      during("timing peaks", [&] { bench::race(peaks, options_.rounds); });
      const std::string_view best = bench::int8_peak().name;
      const auto int8 = std::find_if(peaks.begin(), peaks.end(),
                                     [&](const auto& contender) { return contender.name == best; });
      for (size_t i = 0; i < peaks.size(); ++i) {
        const bench::Contender& peak = peaks[i];
        const std::string name = (kernels[i].is_int8_dot ? "dot int8 " : "") + peak.name;
        const double share = peak.best_gflops() / int8->best_gflops();
        std::fprintf(out_, "%-36s %8lld %10.1f %10.1f %9s\n", name.c_str(),
                     static_cast<long long>(threads->thread_count()), peak.median_gflops(),
                     peak.best_gflops(), share_text(share).c_str());
        json_["peaks"].push_back({{"kernel", name},
                                  {"threads", threads->thread_count()},
                                  {"gflops", peak.best_gflops()},
                                  {"median_gflops", peak.median_gflops()},
                                  {"share_of_int8_peak", share}});
      }
    }
  }

  void run_gemms() {
    std::fprintf(out_, "\nproducts, median and best of %s\n%-21s %-17s %-18s %7s %9s %9s %8s %7s\n",
                 std::to_string(3 * options_.rounds).c_str(), "shape", "N x K * M", "kernel",
                 "threads", "GFLOP/s", "best", "of int8", "x f32");
    json_["gemm"] = Json::array();
    for (const bench::NamedShape& shape : bench::kGemmShapes) {
      const auto rows = during("timing products", [&] {
        return bench::race_gemms(shape, {.threads = options_.threads, .rounds = options_.rounds});
      });
      for (const bench::GemmRow& row : rows) report(row);
    }
  }

  void report(const bench::GemmRow& row) {
    const std::string dims = std::to_string(row.shape.n) + " x " + std::to_string(row.shape.k) +
                             " * " + std::to_string(row.shape.m);
    std::fprintf(out_, "%-21s %-17s %-18s %7lld %9.1f %9.1f %8s %7.2f\n", row.shape_name.c_str(),
                 dims.c_str(), row.kernel.c_str(), static_cast<long long>(row.threads),
                 row.median_gflops, row.gflops, share_text(row.share_of_int8_peak).c_str(),
                 row.ratio_to_f32.value_or(0));
    Json entry = {{"kernel", row.kernel},
                  {"name", row.shape_name},
                  {"shape", {row.shape.n, row.shape.k, row.shape.m}},
                  {"threads", row.threads},
                  {"gflops", row.gflops},
                  {"median_gflops", row.median_gflops},
                  {"share_of_int8_peak", row.share_of_int8_peak},
                  {"ratio_to_f32", nullptr}};
    if (row.ratio_to_f32) entry["ratio_to_f32"] = *row.ratio_to_f32;
    json_["gemm"].push_back(std::move(entry));
  }

  /// Weights as float32 against all that the process held when its first model stood.
  void report_memory() {
    constexpr double kMebibyte = 1 << 20;
    double weights = 0;
    for (const auto& [name, tensor] : checkpoint_.tensors)
      weights += static_cast<double>(tensor.values.size() * sizeof(float)) / kMebibyte;
    const double rest = static_cast<double>(f32_peak_bytes_) / kMebibyte - weights;
    std::fprintf(out_, "%-36s %6.1f MiB  (goal at most %.0f: %s), weights %.1f MiB\n",
                 "f32 batch, memory beside the weights", rest, kMostMebibytes,
                 rest <= kMostMebibytes ? "reached" : "missed", weights);
    json_["memory"] = {{"f32_beside_weights_mib", rest},
                       {"f32_weights_mib", weights},
                       {"peak_rss_mib", static_cast<double>(peak_memory_bytes()) / kMebibyte}};
  }

  FloatBenchOptions options_;
  std::FILE* out_ = stream_beside(options_.json);
  store::Checkpoint checkpoint_;
  int64_t f32_peak_bytes_ = 0;
  Json json_;
};

}  // namespace

void bench_float(const FloatBenchOptions& options) { Report(options).run(); }

}  // namespace driftless::cli
