// SPDX-License-Identifier: Apache-2.0
// driftless bench: the machine's own limits, matrix products at the models' shapes, and whole
// supervision steps, in every number type; of a packed model the table of bench_packed.h.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/bench/calm.h"
#include "driftless/bench/gemm.h"
#include "driftless/bench/peaks.h"
#include "driftless/bench/random_model.h"
#include "driftless/bench/steps.h"
#include "driftless/cli/bench/bench_packed.h"
#include "driftless/cli/command.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/model/shapes.h"
#include "driftless/reason/boards.h"
#include "driftless/run/backend.h"
#include "driftless/run/boards.h"
#include "driftless/run/model.h"
#include "driftless/simulate/cpu_reasoner.h"
#include "driftless/store/packed_model.h"

namespace driftless::cli {
namespace {

using bench::StepRow;
using bench::StepShape;
using Json = nlohmann::ordered_json;

struct BenchOptions {
  std::string model;   // empty: the bundled one
  std::string preset;  // empty: the model
  int64_t width = 0;   // 0: the preset's
  std::string data;    // empty: the bundled boards where they fit, otherwise blank ones
  std::string source;  // of a packed model
  std::string halting = "halt";
  int64_t boards = 0;  // 0: kUsualBoards
  int64_t batch = 8;
  int64_t threads = run::default_threads();
  int64_t rounds = 20;
  double patience_s = 10;
  std::string json;
};

/// For the rate with adaptive halting.
constexpr int64_t kUsualBoards = 4;

/// Boards to think about; the examples own the tokens.
struct Boards {
  std::vector<task::Example> examples;
  std::vector<reason::Board> boards;
};

/// The boards given, or the bundled ones where they fit; "" for none.
std::string bench_data(const store::Checkpoint& checkpoint, const BenchOptions& options) {
  if (!options.data.empty()) return options.data;
  const task::Task& task = run::task_of(checkpoint);
  const std::string bundled = or_bundled("models/demo-" + checkpoint.config.task + ".csv");
  std::error_code ignored;
  const bool fits =
      checkpoint.config.seq_len == task.seq_len && std::filesystem::exists(bundled, ignored);
  return fits ? bundled : "";
}

Boards read_bench_boards(const store::Checkpoint& checkpoint, const BenchOptions& options) {
  Boards result;
  const std::string path = bench_data(checkpoint, options);
  if (path.empty()) {
    result.examples.resize(1);
    result.examples[0].input.assign(static_cast<size_t>(checkpoint.config.seq_len), 1);
  } else {
    result.examples = run::read_boards(
        run::task_of(checkpoint),
        {.path = path, .limit = options.boards > 0 ? options.boards : kUsualBoards});
    run::require_fits(checkpoint, result.examples, path);
  }
  result.boards = reason::boards_of(result.examples, 0);
  return result;
}

/// The file that is measured; "" for a preset.
std::filesystem::path chosen_model(const BenchOptions& options) {
  if (!options.model.empty() || !options.preset.empty()) return options.model;
  return default_model();
}

store::Checkpoint load_bench_model(const BenchOptions& options) {
  DRIFTLESS_REQUIRE(options.width == 0 || !options.preset.empty(), ErrorCode::InvalidArgument,
                    "--width: of a preset; expected --preset NAME");
  if (options.preset.empty()) return load_float_model(options.model);
  return bench::random_preset(options.preset, options.width);
}

/// What the rates are meant to be, as one over the other.
struct Goal {
  const char* text;
  const char* path;
  bool is_single;
  const char* base;
  bool is_base_single;
  double least;
};
constexpr std::array<Goal, 3> kGoals = {
    {{"f32 steps / their matmuls alone", "f32", false, "f32 matmuls alone", false, 0.85},
     {"bf16 steps / f32 steps", "bf16", false, "f32", false, 1.7},
     {"f32 single board / f32 batch", "f32", true, "f32", false, 0.75}}};
constexpr double kMostMebibytes = 64;  // beside the weights

/// Does the work while a terminal says what it is.
template <class Work>
auto during(const char* phase, Work work) {
  const Progress progress(phase);
  return work();
}

class Report {
 public:
  explicit Report(const BenchOptions& options)
      : options_(options), checkpoint_(load_bench_model(options)) {}

  void run() {
    bench::keep_onednn_to_vectors();
    // What cannot run fails before anything is timed.
    const Boards boards = read_bench_boards(checkpoint_, options_);
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
    run_steps(boards);
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
        std::fprintf(out_, "%-36s %8lld %10.1f %10.1f %8.1f%%\n", name.c_str(),
                     static_cast<long long>(threads->thread_count()), peak.median_gflops(),
                     peak.best_gflops(), 100 * share);
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
    std::fprintf(out_, "%-21s %-17s %-18s %7lld %9.1f %9.1f %7.1f%% %7.2f\n",
                 row.shape_name.c_str(), dims.c_str(), row.kernel.c_str(),
                 static_cast<long long>(row.threads), row.median_gflops, row.gflops,
                 100 * row.share_of_int8_peak, row.ratio_to_f32.value_or(0));
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

  [[nodiscard]] std::vector<bench::StepEntry> step_entries() const {
    const StepShape batch{options_.batch, options_.threads};
    const StepShape single{1, options_.threads};
    std::vector<bench::StepEntry> entries = {{bench::bare_path(checkpoint_), batch}};
    for (const bench::Path& path : bench::step_paths(checkpoint_)) {
      for (const StepShape& shape : {batch, single, StepShape{1, 1}}) {
        const bool is_there =
            std::any_of(entries.begin(), entries.end(), [&](const bench::StepEntry& entry) {
              return entry.path.name == path.name && entry.shape == shape;
            });
        if (!is_there) entries.push_back({path, shape});
      }
    }
    return entries;
  }

  void run_steps(const Boards& boards) {
    const std::vector<bench::StepEntry> entries = step_entries();
    const bench::StepRace race = during("timing steps", [&] {
      return bench::race_steps(entries, checkpoint_, boards.boards, options_.rounds);
    });
    const int64_t positions = model::positions_count(checkpoint_.config);
    std::fprintf(out_,
                 "\nsupervision steps of %s, %lld positions\n%-36s %7s %9s %9s %8s %7s %12s\n",
                 model_name().c_str(), static_cast<long long>(positions), "", "threads", "GFLOP/s",
                 "best", "of int8", "x f32", "boards/s");
    json_["positions"] = positions;
    json_["step"] = Json::array();
    for (const StepRow& row : race.rows) report(row, race);
    run_halting(entries, boards);
    std::fprintf(out_, "\nmedians over the rounds\n");
    for (const Goal& goal : kGoals) report(goal, race);
    if (options_.threads > 1) report_threads(race);
    report_memory();
    if (!race.has_energy) std::fprintf(out_, "%-36s not exposed by this machine\n", "energy");
    json_["energy_exposed"] = race.has_energy;
  }

  [[nodiscard]] double board_flops() const {
    return static_cast<double>(simulate::step_flops(checkpoint_.config) *
                               checkpoint_.config.halt_max_steps);
  }

  static const StepRow& find(const bench::StepRace& race, const std::string& path,
                             const StepShape& shape) {
    return *std::find_if(race.rows.begin(), race.rows.end(), [&](const StepRow& row) {
      return row.path == path && row.shape == shape;
    });
  }

  void report(const StepRow& row, const bench::StepRace& race) {
    const double share = row.best_gflops() / race.int8_peak_gflops(row.shape);
    const double ratio = median_ratio(row, find(race, bench::kBasePath, row.shape));
    const bool is_bare = row.path == race.rows.front().path;
    const std::string name =
        row.path + (is_bare ? "" : " steps") + ", batch " + std::to_string(row.shape.batch);
    const double boards = is_bare ? 0 : row.boards_per_s(board_flops());
    std::fprintf(out_, "%-36s %7lld %9.1f %9.1f %7.1f%% %7.2f %12.3f\n", name.c_str(),
                 static_cast<long long>(row.shape.threads), row.median_gflops(), row.best_gflops(),
                 100 * share, ratio, boards);
    Json entry = {{"path", row.path},
                  {"d", checkpoint_.config.hidden_size},
                  {"batch", row.shape.batch},
                  {"threads", row.shape.threads},
                  {"gflops", row.best_gflops()},
                  {"median_gflops", row.median_gflops()},
                  {"share_of_int8_peak", share},
                  {"ratio_to_f32", ratio},
                  {"joules_per_step", nullptr}};
    if (race.has_energy)
      entry["joules_per_step"] =
          row.joules / static_cast<double>(std::ssize(row.gflops) * row.shape.batch);
    if (!is_bare) entry["boards_per_s_fixed"] = boards;
    json_["step"].push_back(std::move(entry));
  }

  /// Adds the rate with adaptive halting to the batch rows of each path.
  void run_halting(const std::vector<bench::StepEntry>& entries, const Boards& boards) {
    const StepShape shape{options_.batch, options_.threads};
    std::fprintf(out_, "\nwith adaptive halting, %zu boards, batch %lld\n", boards.boards.size(),
                 static_cast<long long>(options_.batch));
    for (size_t i = 1; i < entries.size(); ++i) {
      if (entries[i].shape != shape) continue;
      const bench::HaltingRate rate = during(
          "timing boards", [&] { return halting_rate(entries[i].path, shape, boards.boards); });
      std::fprintf(out_, "%-36s %9.3f boards/s, %.2f steps each\n", entries[i].path.name.c_str(),
                   rate.boards_per_s, rate.mean_steps);
      json_["step"][i]["boards_per_s_halting"] = rate.boards_per_s;
      json_["step"][i]["mean_steps_halting"] = rate.mean_steps;
    }
  }

  void report(const Goal& goal, const bench::StepRace& race) const {
    const auto shape = [&](bool is_single) {
      return StepShape{is_single ? 1 : options_.batch, options_.threads};
    };
    const double ratio = median_ratio(find(race, goal.path, shape(goal.is_single)),
                                      find(race, goal.base, shape(goal.is_base_single)));
    std::fprintf(out_, "%-36s %6.3f      (goal at least %.2f: %s)\n", goal.text, ratio, goal.least,
                 ratio >= goal.least ? "reached" : "missed");
  }

  /// What more threads give a single board.
  void report_threads(const bench::StepRace& race) {
    for (const StepRow& row : race.rows) {
      if (row.shape != StepShape{1, 1}) continue;
      const double ratio = median_ratio(find(race, row.path, {1, options_.threads}), row);
      const std::string text =
          row.path + ", " + std::to_string(options_.threads) + " threads / 1 thread";
      std::fprintf(out_, "%-36s %6.3f      (single board)\n", text.c_str(), ratio);
      json_["threads_ratio"].push_back({{"path", row.path}, {"ratio", ratio}});
    }
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

  BenchOptions options_;
  std::FILE* out_ = stream_beside(options_.json);
  store::Checkpoint checkpoint_;
  int64_t f32_peak_bytes_ = 0;
  Json json_;
};

/// What only float models have is refused for packed ones, and the other way round.
void require_kind(bool is_packed, const std::vector<Flag>& of_float,
                  const std::vector<Flag>& of_packed) {
  for (const Flag& flag : is_packed ? of_float : of_packed)
    if (flag.is_given())
      reject(flag.name(), is_packed ? "for a float model's bench; got a packed model"
                                    : "for a packed model's bench; got a float model");
}

void run_bench(BenchOptions& options, const std::vector<Flag>& of_float,
               const std::vector<Flag>& of_packed) {
  options.model = chosen_model(options).string();
  const bool is_packed = options.preset.empty() && store::is_packed(options.model);
  require_kind(is_packed, of_float, of_packed);
  if (!is_packed) return Report(options).run();
  bench_packed({.model = options.model,
                .source = options.source,
                .data = options.data,
                .boards = options.boards,
                .threads = options.threads,
                .halting = options.halting,
                .patience_s = options.patience_s,
                .json = options.json});
}

}  // namespace

void add_bench_command(const Verb& verb) {
  auto options = std::make_shared<BenchOptions>();
  const Flag model = verb.add_input(
      "model", options->model,
      "packed model: size, memory, time and accuracy beside float and int8; or checkpoint: peaks, "
      "products and steps in every number type (default: the bundled Sudoku checkpoint)");
  verb.accepts_old("--model", model);
  const Flag preset =
      verb.add_option("--preset", options->preset,
                      "a published configuration with random weights instead, such as trm-maze")
          .excludes(model);
  const Flag width = verb.add_option("--width", options->width, "D of the preset").positive();
  const Flag source = verb.add_input(
      "--source", options->source,
      "of a packed model: the float checkpoint to compare with (default: what it was made from, "
      "where that is beside it)");
  add_halting_flag(verb, options->halting);
  verb.add_input("--data", options->data,
                 "boards to think about (default: the bundled ones where they fit)");
  verb.add_option("--boards", options->boards,
                  "take only the first N of them (default: " + std::to_string(kUsualBoards) +
                      ", of a packed model " + std::to_string(kPackedBenchBoards) + ")")
      .positive();
  const Flag batch = verb.add_option("--batch", options->batch, "boards at a time").shows_default();
  add_threads_flag(verb, options->threads);
  const Flag rounds = verb.add_option("--rounds", options->rounds, "times to measure everything")
                          .positive()
                          .shows_default();
  verb.add_option("--patience", options->patience_s, "seconds to wait for a calm machine")
      .between(0, kNoLimit)
      .shows_default();
  verb.add_json(options->json, "write the figures as JSON");
  verb.also_uses({"model", FileRole::Input, [options] {
                    return std::vector<std::filesystem::path>{chosen_model(*options)};
                  }});
  verb.example("driftless bench models/sudoku-small-mxint4.safetensors --boards 4 --patience 0");
  verb.allows_verb();
  add_bench_train_command(verb.add_verb("train", "how fast a training step is here"));
  const std::vector<Flag> of_float = {preset, width, batch, rounds};
  const std::vector<Flag> of_packed = {source, verb.find("--halting")};
  verb.runs([options, of_float, of_packed] { run_bench(*options, of_float, of_packed); });
}

}  // namespace driftless::cli
