// SPDX-License-Identifier: Apache-2.0
// driftless recommend: the fewest bits per layer that keep a model's accuracy.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/study_input.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/quant/plan/plan_json.h"
#include "driftless/study/recommend.h"

namespace driftless::cli {
namespace {

struct RecommendOptions {
  run::StudyOptions flags;
  std::vector<std::string> choices{"mxint8", "mxint4,rule=mse", "mxint3,rule=mse"};
  std::string coverage = "block";
  double within = 1.0;  // points
  int64_t probe_boards = 16;
  int64_t steps = 0;
};

void print_layers(std::FILE* out, const study::Recommendation& result,
                  const RecommendOptions& options) {
  std::fprintf(out, "%-42s %-18s", "layer", "choice");
  for (const std::string& choice : options.choices) std::fprintf(out, " %18s", choice.c_str());
  std::fprintf(out, "\n");
  for (const study::LayerChoice& layer : result.layers) {
    std::fprintf(out, "%-42s %-18s", layer.layer.name.c_str(),
                 options.choices[layer.choice].c_str());
    for (const double divergence : layer.divergence) std::fprintf(out, " %18.2f", divergence);
    std::fprintf(out, "\n");
  }
}

void print_checks(std::FILE* out, const study::Recommendation& result,
                  const RecommendOptions& options) {
  std::fprintf(
      out,
      "\nA layer's numbers: mean latent divergence when it alone is quantized. Layers were "
      "narrowed in the order of\nleast added squared divergence per bit; each plan below was "
      "run on %lld boards.\n\n",
      static_cast<long long>(result.chosen.paired.n));
  std::fprintf(out, "%9s %10s %9s %14s %9s  %s\n", "narrowed", "bits w/a", "exact %", "less float",
               "p", "");
  for (const study::Check& check : result.checks)
    std::fprintf(out, "%9lld %4.2f / %4.2f %8.2f %+13.2f %9.2g  %s\n",
                 static_cast<long long>(check.narrowed), check.bits.weights, check.bits.acts,
                 100 * check.exact, 100 * check.paired.difference(), check.paired.p_value(),
                 check.is_within ? "within" : "too much");
  const task::Interval interval = result.chosen.paired.interval();
  std::fprintf(
      out,
      "\nplan: %.2f bits per weight, %.2f per activation; exact %+.2f points of float (95 %% "
      "interval %+.2f to %+.2f), allowed %.2f\n",
      result.chosen.bits.weights, result.chosen.bits.acts, 100 * result.chosen.paired.difference(),
      100 * interval.low, 100 * interval.high, -options.within);
}

void run_recommend(const RecommendOptions& options) {
  DRIFTLESS_REQUIRE(
      run::find_device(options.flags.backend.device).execution == study::Execution::Simulated,
      ErrorCode::Unsupported,
      "recommend: --native; layers are quantized one at a time, and the native engine "
      "needs all of the block; expected a simulating device");
  const run::StudyFiles files = open_study(options.flags);
  const study::StudyInput input = files.input("recommend");
  study::RecommendInput search{
      .config = input.config,
      .task = input.task,
      .examples = input.examples,
      .probe_boards = options.probe_boards,
      .choices = {},
      .coverage = quant::parse_coverage(options.coverage),
      .within = options.within / 100,
      .steps = options.steps > 0 ? options.steps : input.config.halt_max_steps,
      .batch = input.batch,
      .seed = input.seed};
  search.choices.reserve(options.choices.size());
  for (const std::string& choice : options.choices)
    search.choices.push_back(quant::parse_quant_spec(choice));
  Progress progress("recommend");
  const study::Recommendation result = study::recommend(
      search, files.backend(), [&](const std::string& what) { progress.show(0, what); });
  if (!options.flags.out.empty())
    write_output(options.flags.out, quant::plan_to_json(result.plan) + "\n");
  std::FILE* const out = stream_beside(options.flags.out);
  print_layers(out, result, options);
  print_checks(out, result, options);
  if (!options.flags.out.empty())
    std::fprintf(out, "written to %s; use it with driftless eval --plan\n",
                 options.flags.out.c_str());
}

}  // namespace

void add_recommend_command(const Verb& verb) {
  auto options = std::make_shared<RecommendOptions>();
  verb.add_input("model", options->flags.model, "checkpoint (safetensors)").required();
  verb.add_input("--data", options->flags.data, "boards with answers").required();
  verb.add_option("--within", options->within, "points of exact accuracy that may be lost")
      .between(0, 100)
      .shows_default();
  verb.add_option("--choices", options->choices, "quantizers to choose from, widest first")
      .shows_default();
  verb.add_option("--coverage", options->coverage, "block: the recursive block; linear: heads too")
      .shows_default();
  verb.add_option("--probe-boards", options->probe_boards, "boards that measure sensitivity")
      .positive()
      .shows_default();
  verb.add_option("--steps", options->steps, "supervision steps (default: the model's)").positive();
  add_study_flags(verb, options->flags);
  verb.add_output("--out", options->flags.out, "write the plan (JSON) here, or to -");
  verb.example(
      "driftless recommend models/sudoku-small.safetensors --data models/demo-sudoku.csv "
      "--limit 8 --within 1.0 --out plan.json");
  verb.runs([options] { run_recommend(*options); });
}

}  // namespace driftless::cli
