// SPDX-License-Identifier: Apache-2.0
// driftless accumulators: what the accumulators of integer products meet in a model, and what
// narrower ones do to its answers. docs/accumulators.md defines every figure.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/cli/terminal/watch.h"
#include "driftless/reason/boards.h"
#include "driftless/run/boards.h"
#include "driftless/run/model.h"
#include "driftless/run/score/evaluation.h"
#include "driftless/simulate/accumulator_observer.h"
#include "driftless/simulate/cpu_reasoner.h"

namespace driftless::cli {
namespace {

using simulate::LayerAccumulation;
using Json = nlohmann::ordered_json;

struct AccumulatorsOptions {
  std::string model;
  run::BoardFile data{.path = "", .limit = 8};
  run::SchemeText scheme;
  std::vector<int64_t> bits = {14, 16, 18, 20};
  int64_t steps = 0;  // 0: as many as the model was trained with
  int64_t threads = run::default_threads();
  std::string json;
};

struct Input {
  store::Checkpoint checkpoint;
  std::vector<task::Example> examples;
  run::PlannedScheme scheme;
};

/// One width of accumulators and what the model did with them.
struct Narrow {
  integer::Accumulator accumulator;
  std::string_view overflow;
  double share_beyond = 0;  // of all sums
  task::Share exact;
  int64_t changed = 0;  // boards with another answer than with wide accumulators
};

run::Evaluation evaluate_with(const Input& input, const AccumulatorsOptions& options,
                              const integer::Accumulator& accumulator) {
  const auto reasoner =
      simulate::make_cpu_reasoner(input.checkpoint, {.slots = 4 * options.threads,
                                                     .threads = options.threads,
                                                     .plan = &input.scheme.plan,
                                                     .accumulator = &accumulator});
  return run::evaluate(
      *reasoner, run::task_of(input.checkpoint), input.examples,
      {.halting = reason::find_halting("fixed"),
       .max_steps = options.steps,
       .watch = watch_evaluation(std::ssize(input.examples),
                                 "accumulators of " + std::to_string(accumulator.bits) + " bits")});
}

std::vector<LayerAccumulation> observe(const Input& input, const AccumulatorsOptions& options) {
  simulate::AccumulatorObserver observer(input.checkpoint, input.scheme.plan);
  const auto reasoner =
      simulate::make_cpu_reasoner(input.checkpoint, {.slots = 1, .plan = &input.scheme.plan});
  Progress progress("observing", std::ssize(input.examples));
  int64_t done = 0;
  reason::run(
      *reasoner, reason::boards_of(input.examples, 0),
      {.halting = reason::find_halting("fixed"), .max_steps = options.steps, .observer = &observer},
      [&](int64_t, const reason::Answer&) { progress.show(++done, "wide accumulators"); });
  return observer.layers();
}

/// Of the sums of all layers.
double share_beyond(const std::vector<LayerAccumulation>& layers, int64_t bits) {
  double beyond = 0;
  double all = 0;
  for (const LayerAccumulation& layer : layers) {
    const auto sums = static_cast<double>(layer.sums());
    beyond += sums * layer.share_beyond(bits);
    all += sums;
  }
  return all == 0 ? 0 : beyond / all;
}

std::vector<Narrow> narrow_runs(const Input& input, const AccumulatorsOptions& options,
                                const std::vector<LayerAccumulation>& layers,
                                const run::Evaluation& wide) {
  std::vector<Narrow> runs;
  runs.reserve(options.bits.size() * integer::kOverflowNames.size());
  for (const int64_t bits : options.bits) {
    for (const auto& [overflow, name] : integer::kOverflowNames) {
      Narrow run{{bits, overflow}, name, share_beyond(layers, bits), {}, 0};
      const run::Evaluation result = evaluate_with(input, options, run.accumulator);
      run.exact = result.score.exact;
      for (size_t i = 0; i < result.answers.size(); ++i)
        run.changed += result.answers[i].tokens != wide.answers[i].tokens ? 1 : 0;
      runs.push_back(run);
    }
  }
  return runs;
}

std::string range_text(int64_t low, int64_t high) {
  return std::to_string(low) + ".." + std::to_string(high);
}

const char* state_name(model::State state) { return state == model::State::L ? "L" : "H"; }

void print_layers(std::FILE* out, const std::vector<LayerAccumulation>& layers) {
  std::fprintf(out, "%-42s %-5s %5s  %-14s %-14s %-7s %8s %8s %8s\n", "", "", "", "spread, raised",
               "", "", "bits", "enough:", "enough:");
  std::fprintf(out, "%-42s %-5s %5s  %-14s %-14s %-7s %8s %8s %8s\n", "layer", "state", "K",
               "activations", "weights", "shifts", "seen", "weights", "formats");
  for (const LayerAccumulation& layer : layers) {
    const auto factor = [](const simulate::FactorExponents& exponents) {
      char text[32];
      std::snprintf(text, sizeof(text), "%2lld  %6.2f %%",
                    static_cast<long long>(exponents.widest()), 100 * exponents.share_raised());
      return std::string(text);
    };
    std::fprintf(out, "%-42s %-5s %5lld  %-14s %-14s %-7s %8lld %8lld %8lld\n", layer.layer.c_str(),
                 state_name(layer.updates), static_cast<long long>(layer.k),
                 factor(layer.acts).c_str(), factor(layer.weights).c_str(),
                 range_text(layer.acts.least_shift() + layer.weights.least_shift(),
                            layer.acts.window + layer.weights.window)
                     .c_str(),
                 static_cast<long long>(layer.most_bits()),
                 static_cast<long long>(layer.bits_for_weights),
                 static_cast<long long>(layer.bits_for_any_operands));
  }
}

void print_runs(std::FILE* out, const std::vector<Narrow>& runs, const run::Evaluation& wide) {
  std::fprintf(out, "\n%-12s %-9s %12s %8s %22s %8s\n", "accumulators", "overflow", "sums beyond",
               "exact", "95 % interval", "changed");
  const auto line = [&](const std::string& bits, std::string_view overflow, double beyond,
                        const task::Share& exact, int64_t changed) {
    std::fprintf(out, "%-12s %-9s %10.4f %% %6.2f %% %9.2f to %6.2f %% %8lld\n", bits.c_str(),
                 std::string(overflow).c_str(), 100 * beyond, 100 * exact.value(),
                 100 * exact.interval().low, 100 * exact.interval().high,
                 static_cast<long long>(changed));
  };
  line("wide", "never", 0, wide.score.exact, 0);
  for (const Narrow& run : runs)
    line(std::to_string(run.accumulator.bits) + " bits", run.overflow, run.share_beyond, run.exact,
         run.changed);
}

Json factor_json(const simulate::FactorExponents& exponents) {
  return {{"window", exponents.window},
          {"spread", exponents.spread},
          {"widest_spread", exponents.widest()},
          {"share_raised", exponents.share_raised()},
          {"least_shift", exponents.least_shift()}};
}

Json layer_json(const LayerAccumulation& layer) {
  return {{"layer", layer.layer},
          {"state", state_name(layer.updates)},
          {"k", layer.k},
          {"outputs", layer.outputs},
          {"activations", factor_json(layer.acts)},
          {"weights", factor_json(layer.weights)},
          {"shift_range",
           {layer.acts.least_shift() + layer.weights.least_shift(),
            layer.acts.window + layer.weights.window}},
          {"sums", layer.sums()},
          {"bits", layer.bits},
          {"bits_seen", layer.most_bits()},
          {"bits_enough_for_weights", layer.bits_for_weights},
          {"bits_enough_for_formats", layer.bits_for_any_operands}};
}

Json exact_json(const task::Share& share) {
  return {{"share", share.value()},
          {"hits", share.hits},
          {"n", share.n},
          {"low", share.interval().low},
          {"high", share.interval().high}};
}

Json result_json(const AccumulatorsOptions& options, const Input& input,
                 const std::vector<LayerAccumulation>& layers, const run::Evaluation& wide,
                 const std::vector<Narrow>& runs) {
  Json json = {
      {"model", options.model},          {"data", options.data.path},
      {"boards", input.examples.size()}, {"steps", options.steps},
      {"scheme", input.scheme.text},     {"wide", {{"exact", exact_json(wide.score.exact)}}},
      {"layers", Json::array()},         {"narrow", Json::array()}};
  for (const LayerAccumulation& layer : layers) json["layers"].push_back(layer_json(layer));
  for (const Narrow& run : runs)
    json["narrow"].push_back({{"bits", run.accumulator.bits},
                              {"overflow", run.overflow},
                              {"share_of_sums_beyond", run.share_beyond},
                              {"exact", exact_json(run.exact)},
                              {"changed_boards", run.changed}});
  return json;
}

void accumulators(AccumulatorsOptions options) {
  for (const int64_t bits : options.bits)
    DRIFTLESS_REQUIRE(
        bits >= integer::Accumulator::kLeastBits && bits <= integer::Accumulator::kMostBits,
        ErrorCode::InvalidArgument, "--bits; got ", bits, ", expected ",
        integer::Accumulator::kLeastBits, " to ", integer::Accumulator::kMostBits);
  Input input{load_float_model(options.model), {}, {}};
  if (options.steps == 0) options.steps = input.checkpoint.config.halt_max_steps;
  input.examples = run::read_boards(run::task_of(input.checkpoint), options.data);
  run::require_fits(input.checkpoint, input.examples, options.data.path);
  input.scheme = run::planned_scheme(options.scheme, input.checkpoint, {}, input.examples);
  DRIFTLESS_REQUIRE(!input.scheme.plan.layers.empty(), ErrorCode::InvalidArgument,
                    "accumulators: the scheme quantizes no layer; expected integers, such as "
                    "--weights mxint4,window=4 --acts mxint4,window=4");
  simulate::require_integer_layers(input.scheme.plan);
  const InterruptGuard guard;
  const std::vector<LayerAccumulation> layers = observe(input, options);
  const run::Evaluation wide = evaluate_with(input, options, {});
  const std::vector<Narrow> runs = narrow_runs(input, options, layers, wide);
  std::FILE* const out = stream_beside(options.json);
  std::fprintf(out, "%s, %zu boards of %s, %lld steps\n%s\n\n", options.model.c_str(),
               input.examples.size(), options.data.path.c_str(),
               static_cast<long long>(options.steps), input.scheme.text.c_str());
  if (!input.scheme.calibration.empty())
    std::fprintf(out, "calibrated on %s\n\n", input.scheme.calibration.c_str());
  print_layers(out, layers);
  print_runs(out, runs, wide);
  if (!options.json.empty())
    write_output(options.json, result_json(options, input, layers, wide, runs).dump(2) + "\n");
}

}  // namespace

void add_accumulators_command(const Verb& verb) {
  auto options = std::make_shared<AccumulatorsOptions>();
  options->scheme.weights = options->scheme.acts = "mxint4,window=4";
  verb.add_input("model", options->model, "checkpoint (safetensors)").required();
  verb.add_input("--data", options->data.path, "boards with answers").required();
  verb.add_option("--limit", options->data.limit, "take only the first N boards")
      .positive()
      .shows_default();
  verb.add_option("--bits", options->bits, "accumulator widths to try").shows_default();
  verb.add_option("--steps", options->steps, "supervision steps (default: the model's)").positive();
  add_threads_flag(verb, options->threads);
  add_scheme_flags(verb, options->scheme);
  verb.add_json(options->json, "write the result as JSON");
  verb.example(
      "driftless accumulators models/sudoku-small.safetensors --data "
      "models/demo-sudoku.csv --limit 4 --bits 12 16");
  verb.runs([options] { accumulators(*options); });
}

}  // namespace driftless::cli
