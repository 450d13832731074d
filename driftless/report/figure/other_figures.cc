// SPDX-License-Identifier: Apache-2.0
// Figures of what is not a study: training, evaluations and benchmarks.
#include <algorithm>
#include <array>
#include <map>

#include "driftless/report/figure/makers.h"
#include "driftless/report/figure/rows.h"
#include "driftless/report/figure/scale.h"

namespace driftless::report {
namespace {

void erase_words(std::string& text) {
  for (const std::string_view word : {"/tensor", "/static", "/dynamic"}) {
    const size_t at = text.find(word);
    if (at != std::string::npos) text.erase(at, word.size());
  }
  text = text.substr(0, text.find(','));
}

/// The formats without what all such runs have in common: one scale a tensor, and where it is from.
std::string formats_of(const Json& run) {
  std::string weights = run.at("weights");
  std::string acts = run.at("acts");
  erase_words(weights);
  erase_words(acts);
  return weights == acts ? weights : weights + " weights and " + acts + " activations";
}

std::string qat_label(const Json& run) {
  return formats_of(run) + ", " + run.at("method").get<std::string>();
}

/// Runs of one label and checkpoint, whatever their seeds.
Row qat_row(const std::vector<const Json*>& runs) {
  Row row{.label = qat_label(*runs.front()), .marks = {}, .note = ""};
  row.marks.push_back({estimate(runs.front()->at("before").at("exact")), Tone::Orange});
  double sum = 0;
  for (const Json* run : runs) {
    row.marks.push_back({estimate(run->at("after").at("exact")), Tone::Blue});
    sum += run->at("after").at("exact").at("share").get<double>();
  }
  const Json& theirs = runs.front()->at("theirs").at("after");
  if (theirs.is_number()) row.marks.push_back({{.value = theirs.get<double>()}, Tone::Purple});
  row.note =
      value_text(runs.front()->at("before").at("exact").at("share").get<double>(), Unit::Share) +
      " → " + value_text(sum / static_cast<double>(runs.size()), Unit::Share);
  return row;
}

std::string text_or(const Json& line, const char* key) {
  return line.contains(key) && line.at(key).is_string() ? line.at(key).get<std::string>() : "";
}

/// "cuda bf16", "native".
std::string device_of(const Json& eval) {
  const std::string device = text_or(eval, "device");
  return device == "native" ? device : device + " " + text_or(eval, "dtype");
}

}  // namespace

Chart make_qat(const Results& results) {
  Chart chart{.title = "Training through the quantizer brings most back",
              .subtitle = "Boards solved before and after, 95 % intervals; dashed: the float model",
              .keys = {{"before training", Tone::Orange},
                       {"after, one mark a seed", Tone::Blue},
                       {"the paper, after", Tone::Purple}},
              .panels = {}};
  std::map<std::string, std::map<std::string, std::vector<const Json*>>> models;
  for (const Json& run : results.qat)
    models[run.at("checkpoint").at("file")][qat_label(run)].push_back(&run);
  for (const auto& [file, labels] : models) {
    DotPanel panel{
        .heading = model_name(file), .x_name = "boards solved", .rows = {}, .reference = {}};
    for (const auto& [label, runs] : labels) {
      panel.rows.push_back(qat_row(runs));
      const Json& reference = runs.front()->at("float_exact");
      if (reference.is_object()) panel.reference = estimate(reference);
    }
    std::stable_sort(panel.rows.begin(), panel.rows.end(), [](const Row& a, const Row& b) {
      return a.marks.at(1).at.value > b.marks.at(1).at.value;
    });
    chart.panels.emplace_back(std::move(panel));
  }
  return chart;
}

Chart make_training(const Results& results) {
  constexpr std::array<Tone, kMostCurves> kTones = {Tone::Blue,   Tone::Orange, Tone::Green,
                                                    Tone::Purple, Tone::Ochre,  Tone::Slate};
  Chart chart{.title = "Accuracy over training",
              .subtitle = "Boards solved on the test boards, averaged weights, with 95 % bands",
              .keys = {},
              .panels = {}};
  LinePanel panel{
      .heading = "", .x_name = "training step", .y_name = "boards solved", .curves = {}};
  std::map<std::string, Curve> curves;
  for (const Json& line : results.logs) {
    if (line.at("kind") != "eval") continue;
    const std::string name = model_name(line.at("file").get<std::string>());
    Curve& curve = curves[name];
    curve.label = name;
    curve.points.push_back({line.at("step").get<double>(),
                            {line.at("exact").get<double>(), line.at("exact_low95").get<double>(),
                             line.at("exact_high95").get<double>()}});
  }
  for (auto& [name, curve] : curves) {
    curve.tone = kTones[panel.curves.size() % kTones.size()];
    panel.curves.push_back(std::move(curve));
  }
  if (!panel.curves.empty()) chart.panels.emplace_back(std::move(panel));
  return chart;
}

Chart make_evals(const Results& results) {
  Chart chart{.title = "Models as evaluated",
              .subtitle = "Boards solved, 95 % intervals",
              .keys = {{"float", Tone::Ink}, {"quantized", Tone::Blue}},
              .panels = {}};
  DotPanel panel{.heading = "", .x_name = "boards solved", .rows = {}, .reference = {}};
  for (const Json& eval : results.evals) {
    if (!eval.contains("exact")) continue;
    const Estimate solved = estimate(eval.at("exact"));
    const Tone tone = text_or(eval, "scheme") == "weights none, acts none" ? Tone::Ink : Tone::Blue;
    panel.rows.push_back(
        {.label = model_name(eval.at("model").get<std::string>()) + ", " + device_of(eval),
         .marks = {{solved, tone}},
         .note = value_text(solved.value, Unit::Share) + " of " +
                 grouped(eval.at("exact").at("n").get<int64_t>()),
         .note_tone = tone});
  }
  if (!panel.rows.empty()) chart.panels.emplace_back(std::move(panel));
  return chart;
}

Chart make_speed(const Results& results) {
  Chart chart{.title = "Speed of a whole step",
              .subtitle = "Times float32 on the same threads; the dashed line is float32",
              .keys = {},
              .panels = {}};
  for (const Json& bench : results.benches) {
    std::map<std::pair<int64_t, int64_t>, DotPanel> panels;
    for (const Json& step : bench.at("step")) {
      if (!step.at("ratio_to_f32").is_number()) continue;
      const auto threads = step.at("threads").get<int64_t>();
      const auto batch = step.at("batch").get<int64_t>();
      const auto ratio = step.at("ratio_to_f32").get<double>();
      DotPanel& panel = panels[{threads, batch}];
      panel.heading = model_name(bench.at("model").get<std::string>()) + ", " +
                      bench.at("native_kernels").get<std::string>() + " kernels, batch " +
                      grouped(batch) + ", " + grouped(threads) +
                      (threads == 1 ? " thread" : " threads");
      panel.x_name = "times float32";
      panel.unit = Unit::Number;
      panel.reference = Estimate{.value = 1};
      const Tone tone = ratio >= 1 ? Tone::Blue : Tone::Orange;
      panel.rows.push_back({.label = step.at("path").get<std::string>(),
                            .marks = {{{.value = ratio}, tone}},
                            .note = value_text(ratio, Unit::Number) + " ×",
                            .note_tone = tone});
    }
    for (auto& [key, panel] : panels) chart.panels.emplace_back(std::move(panel));
  }
  return chart;
}

}  // namespace driftless::report
