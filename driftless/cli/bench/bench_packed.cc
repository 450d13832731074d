// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/bench/bench_packed.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/base/thread_pool.h"
#include "driftless/bench/calm.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/run/boards.h"
#include "driftless/run/deploy/child_process.h"
#include "driftless/run/deploy/deployment.h"
#include "driftless/run/model.h"
#include "driftless/store/packed_model.h"

namespace driftless::cli {
namespace {

using Json = nlohmann::ordered_json;
using run::DeploymentRow;

constexpr double kMost = 0.95;  // of the times that are shown beside the median

/// A folder of our own that goes away with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "driftless-bench-XXXXXX").string();
    DRIFTLESS_REQUIRE(::mkdtemp(name.data()) != nullptr, ErrorCode::Io, name,
                      ": no temporary folder; set TMPDIR");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string data_of(const PackedBenchOptions& options, const store::Checkpoint& model) {
  if (!options.data.empty()) return options.data;
  std::string bundled = or_bundled("models/demo-" + model.config.task + ".csv");
  std::error_code ignored;
  DRIFTLESS_REQUIRE(std::filesystem::exists(bundled, ignored), ErrorCode::InvalidArgument,
                    "bench: no boards come with the program for ", model.config.task,
                    "; expected --data FILE; 'driftless data generate' makes some");
  return bundled;
}

/// "2,629,112".
std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = std::ssize(text) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

class Table {
 public:
  explicit Table(const PackedBenchOptions& options)
      : options_(options),
        source_(options.source.empty() ? run::find_source(options.model)
                                       : std::filesystem::path(options.source)) {}

  void run() {
    store::Checkpoint config;  // without weights
    config.config = store::load_packed(options_.model).config;
    const task::Task& task = run::task_of(config);
    const std::string data = data_of(options_, config);
    const int64_t count = options_.boards > 0 ? options_.boards : kPackedBenchBoards;
    const run::Boards boards =
        run::read_boards_for(config, options_.model, {.path = data, .limit = count},
                             {.identifiers = {}, .variants = 1, .seed = 0});
    run::require_fits(config, boards.examples, data);
    list_deployments();
    measure_memory(boards.examples);
    const auto rows = race(task, boards.examples, config.config.halt_max_steps);
    print(rows, data, boards.examples.size());
  }

 private:
  void list_deployments() {
    if (!source_.empty()) {
      deployments_.push_back({"float32", source_, "cpu"});
      const std::filesystem::path int8 = folder_.path() / "int8.safetensors";
      const Progress progress("packing int8");
      (void)run::peak_memory_of([&] { run::write_int8(source_, options_.model, int8); });
      deployments_.push_back({"int8", int8, "native"});
    }
    deployments_.push_back(run::packed_deployment(options_.model));
    for (const run::Deployment& deployment : deployments_)
      for (const int64_t threads : {int64_t{1}, options_.threads})
        if (entries_.empty() || entries_.back().threads != threads ||
            entries_.back().deployment != &deployment)
          entries_.push_back({&deployment, threads, 0});
  }

  /// In processes of their own, before this one has threads.
  void measure_memory(const std::vector<task::Example>& examples) {
    Progress progress("measuring memory", std::ssize(entries_));
    for (size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      entry.peak_bytes = run::peak_memory_of([&] {
        std::vector<run::Contestant> alone;
        alone.push_back({entry.deployment->name, entry.threads, load(entry)});
        const task::Task& task = task::find_task(alone.front().reasoner->config().task);
        (void)run::race_deployments(
            alone, task, std::span(examples).first(1),
            {.halting = reason::find_halting("fixed"), .max_steps = kMemorySteps});
      });
      progress.show(static_cast<int64_t>(i) + 1, entry.deployment->name);
    }
  }

  std::vector<DeploymentRow> race(const task::Task& task,
                                  const std::vector<task::Example>& examples, int64_t steps) {
    {
      const Progress progress("waiting for a calm machine");
      ThreadPool pool(options_.threads);
      calm_ = bench::wait_for_calm(pool, options_.patience_s);
    }
    std::vector<run::Contestant> contestants;
    for (const Entry& entry : entries_)
      contestants.push_back({entry.deployment->name, entry.threads, load(entry)});
    Progress progress("timing boards", std::ssize(examples));
    return run::race_deployments(contestants, task, examples,
                                 {.halting = reason::find_halting(options_.halting),
                                  .max_steps = steps,
                                  .watch = [&](int64_t done) { progress.show(done, ""); }});
  }

  void print(const std::vector<DeploymentRow>& rows, const std::string& data, size_t boards) {
    Json json = {{"model", options_.model},
                 {"source", source_.string()},
                 {"data", data},
                 {"boards", boards},
                 {"halting", options_.halting},
                 {"processor", processor_name()},
                 {"compiler", compiler_name()},
                 {"native_kernels", integer::kernels().name},
                 {"is_calm", calm_.is_calm},
                 {"rows", Json::array()}};
    std::fprintf(out_, "%s, native kernels %s\nmachine: %s\n\n", processor_name().c_str(),
                 std::string(integer::kernels().name).c_str(), to_string(calm_).c_str());
    std::fprintf(out_, "%-18s %7s %11s %8s %15s %17s\n", "", "", "file", "peak", "ms a step",
                 "ms a board");
    std::fprintf(out_, "%-18s %7s %11s %8s %7s %7s %8s %8s %6s %7s %8s\n", "", "threads", "bytes",
                 "MiB", "median", "95 %", "median", "95 %", "steps", "solved", "x float");
    for (size_t i = 0; i < rows.size(); ++i)
      json["rows"].push_back(line(rows[i], entries_[i], base_of(rows, rows[i])));
    print_notes(rows.front(), data, boards);
    write_output(options_.json, json.dump(2) + "\n");
  }

  /// The float row on as many threads, or none.
  [[nodiscard]] const DeploymentRow* base_of(const std::vector<DeploymentRow>& rows,
                                             const DeploymentRow& row) const {
    if (source_.empty()) return nullptr;
    for (const DeploymentRow& base : rows)
      if (base.threads == row.threads) return &base;
    return nullptr;
  }

  struct Entry {
    const run::Deployment* deployment;
    int64_t threads;
    int64_t peak_bytes;
  };

  static std::unique_ptr<reason::Reasoner> load(const Entry& entry) {
    return run::load(*entry.deployment, entry.threads);
  }

  Json line(const DeploymentRow& row, const Entry& entry, const DeploymentRow* base) {
    constexpr double kMebibyte = 1 << 20;
    std::error_code ignored;
    const auto bytes =
        static_cast<int64_t>(std::filesystem::file_size(entry.deployment->file, ignored));
    const task::Share& solved = row.score.accepted;
    Json json = {
        {"name", row.name},
        {"threads", row.threads},
        {"file_bytes", bytes},
        {"peak_bytes", entry.peak_bytes},
        {"step_ms",
         {{"median", run::quantile(row.step_ms, 0.5)}, {"p95", run::quantile(row.step_ms, kMost)}}},
        {"board_ms",
         {{"median", run::quantile(row.board_ms, 0.5)},
          {"p95", run::quantile(row.board_ms, kMost)}}},
        {"mean_steps", row.score.mean_steps()},
        {"solved",
         {{"hits", solved.hits},
          {"n", solved.n},
          {"low", solved.interval().low},
          {"high", solved.interval().high}}},
        {"speedup", nullptr}};
    if (base != nullptr) json["speedup"] = run::speedup(row, *base);
    std::fprintf(out_, "%-18s %7lld %11s %8.1f %7.2f %7.2f %8.1f %8.1f %6.2f %5.1f %%",
                 row.name.c_str(), static_cast<long long>(row.threads), grouped(bytes).c_str(),
                 static_cast<double>(entry.peak_bytes) / kMebibyte,
                 json["step_ms"]["median"].get<double>(), json["step_ms"]["p95"].get<double>(),
                 json["board_ms"]["median"].get<double>(), json["board_ms"]["p95"].get<double>(),
                 row.score.mean_steps(), 100 * solved.value());
    if (base != nullptr) std::fprintf(out_, " %8.2f", json["speedup"].get<double>());
    std::fputs("\n", out_);
    return json;
  }

  void print_notes(const DeploymentRow& first, const std::string& data, size_t boards) const {
    const task::Interval interval = first.score.accepted.interval();
    std::fprintf(out_,
                 "\nn %zu boards of %s, one at a time, halting %s; the 95 %% interval of the first "
                 "row's share is %.1f to %.1f\n"
                 "peak: of a process that loads the file and works on one board, program and "
                 "libraries included\n"
                 "x float: a step against float32 on as many threads, median over the boards\n",
                 boards, data.c_str(), options_.halting.c_str(), 100 * interval.low,
                 100 * interval.high);
    if (source_.empty())
      std::fputs(
          "float32 and int8 are left out: the packed model's source is not beside it; name "
          "it with --source CHECKPOINT\n",
          out_);
    else
      std::fprintf(out_, "float32: %s; int8: that in int8/channel and int8/token\n",
                   source_.c_str());
  }

  static constexpr int64_t kMemorySteps = 2;
  const PackedBenchOptions& options_;
  std::filesystem::path source_;
  Folder folder_;
  std::FILE* out_ = stream_beside(options_.json);
  std::vector<run::Deployment> deployments_;
  std::vector<Entry> entries_;
  bench::Calm calm_;
};

}  // namespace

void bench_packed(const PackedBenchOptions& options) {
  reason::find_halting(options.halting);
  Table(options).run();
}

}  // namespace driftless::cli
