// SPDX-License-Identifier: Apache-2.0
// driftless bench: of a packed model the table of bench_packed.h, of a checkpoint or a preset the
// tables of bench_float.h.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "driftless/cli/bench/bench_float.h"
#include "driftless/cli/bench/bench_packed.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/run/backend.h"
#include "driftless/store/packed_model.h"

namespace driftless::cli {
namespace {

struct BenchOptions : FloatBenchOptions {
  std::string source;  // of a packed model
  std::string halting = "halt";
  BenchOptions() { threads = run::default_threads(); }
};

/// The file that is measured; "" for a preset.
std::filesystem::path chosen_model(const BenchOptions& options) {
  if (!options.model.empty() || !options.preset.empty()) return options.model;
  return default_model();
}

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
  if (!is_packed) return bench_float(options);
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
                  "take only the first N of them (default: " + std::to_string(kFloatBenchBoards) +
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
