// SPDX-License-Identifier: Apache-2.0
// Figures of studies with a curve for each row, or for each scheme.
#include <algorithm>
#include <array>
#include <functional>

#include "driftless/report/figure/makers.h"
#include "driftless/report/figure/rows.h"

namespace driftless::report {
namespace {

constexpr std::array<Tone, 5> kTones = {Tone::Green, Tone::Purple, Tone::Ochre, Tone::Slate,
                                        Tone::Quiet};

/// Float, MXInt4 and per-tensor int4 look the same in every figure; the others take what is left.
Tone tone_of(const Json& config, size_t& next) {
  const std::string word = scheme_word(config);
  if (word == "none") return Tone::Ink;
  if (word == "mxint4") return Tone::Blue;
  if (word == "int4/tensor/static") return Tone::Orange;
  return kTones[next++ % kTones.size()];
}

std::vector<Curve> curves_by_step(const Group& group, const char* metric) {
  std::vector<Curve> curves;
  size_t next = 0;
  for (const Json* record : group) {
    const Json& steps = record->at("steps");
    if (!steps.contains(metric)) continue;
    const Json& metrics = steps.at(metric);
    Curve curve{.label = row_name(*record, group),
                .tone = tone_of(record->at("config"), next),
                .points = {}};
    for (size_t i = 0; i < metrics.at("mean").size(); ++i) {
      const auto at = [&](const char* key) {
        const Json& value = metrics.at(key).at(i);
        return value.is_number() ? value.get<double>() : kNoEnd;
      };
      curve.points.push_back({static_cast<double>(i + 1), {at("mean"), at("low"), at("high")}});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

/// What a curve is drawn over.
struct Across {
  std::function<double(const Json& record)> value;
  std::vector<Variation> without;  ///< what the axis says already
};

std::vector<Curve> curves_across(const Group& group, const Across& across) {
  std::vector<Curve> curves;
  size_t next = 0;
  for (const Json* record : group) {
    const std::string label = row_name(*record, group, across.without);
    auto curve = std::find_if(curves.begin(), curves.end(),
                              [&](const Curve& known) { return known.label == label; });
    if (curve == curves.end())
      curve = curves.insert(
          curves.end(),
          {.label = label, .tone = tone_of(record->at("config"), next), .points = {}});
    curve->points.push_back({across.value(*record), estimate(record->at("exact"))});
  }
  std::erase_if(curves, [](const Curve& curve) { return curve.points.size() < 2; });
  for (Curve& curve : curves)
    std::stable_sort(curve.points.begin(), curve.points.end(),
                     [](const Point& a, const Point& b) { return a.x < b.x; });
  return curves;
}

/// A panel for each group that has curves.
void add_panels(Chart& chart, const std::vector<Group>& groups, const LinePanel& like,
                const std::function<std::vector<Curve>(const Group&)>& curves) {
  for (const Group& group : groups) {
    LinePanel panel = like;
    panel.heading = group_name(group);
    panel.curves = curves(group);
    if (!panel.curves.empty()) chart.panels.emplace_back(std::move(panel));
  }
}

}  // namespace

Chart make_trajectory(const Results& results) {
  Chart chart{
      .title = "Contraction versus drift",
      .subtitle = "Distance of the latent state from the float model's, mean with 95 % bands",
      .keys = {},
      .panels = {}};
  add_panels(chart, groups_of(results, {}),
             {.heading = "",
              .x_name = "step",
              .y_name = "latent distance (log scale)",
              .unit = Unit::Number,
              .y_axis = Axis::Log,
              .curves = {}},
             [](const Group& all) {
               Group group;
               for (const Json* record : all)
                 if (!is_float(*record) && record->at("steps").contains("latent_divergence"))
                   group.push_back(record);
               std::vector<Curve> curves = curves_by_step(group, "latent_divergence");
               for (size_t i = 0; i < curves.size(); ++i) {
                 const std::string verdict = verdict_text(*group[i]);
                 if (!verdict.empty()) curves[i].label += ", " + verdict;
               }
               return curves;
             });
  return chart;
}

Chart make_steps(const Results& results) {
  Chart chart{.title = "Accuracy after each step",
              .subtitle = "Boards solved if the model stopped here, with 95 % bands",
              .keys = {},
              .panels = {}};
  add_panels(chart, groups_of(results, {}),
             {.heading = "", .x_name = "step", .y_name = "boards solved", .curves = {}},
             [](const Group& group) { return curves_by_step(group, "exact"); });
  return chart;
}

Chart make_dose(const Results& results) {
  constexpr std::array<std::string_view, 3> kStudies = {"dose-response", "maze-ladder", "clipping"};
  Chart chart{.title = "More reuse of the quantized block",
              .subtitle = "Boards solved over the inner cycles of a step, with 95 % bands",
              .keys = {},
              .panels = {}};
  add_panels(
      chart, groups_of(results, kStudies),
      {.heading = "", .x_name = "inner cycles", .y_name = "boards solved", .curves = {}},
      [](const Group& all) {
        // Rows of a group that never vary the cycles belong to other figures.
        const Json& last = all.back()->at("config");
        Group group;
        for (const Json* record : all)
          if (record->at("config").at("coverage") == last.at("coverage")) group.push_back(record);
        return curves_across(
            group,
            {.value = [](const Json& r) { return r.at("config").at("l_cycles").get<double>(); },
             .without = {Variation::LCycles}});
      });
  return chart;
}

Chart make_depth(const Results& results) {
  constexpr std::array<std::string_view, 1> kStudies = {"depth-precision"};
  Chart chart{.title = "Depth against precision",
              .subtitle = "Boards solved over the work a board takes, for fewer steps; 95 % bands",
              .keys = {},
              .panels = {}};
  add_panels(chart, groups_of(results, kStudies),
             {.heading = "",
              .x_name = "multiply-adds a board (log scale)",
              .y_name = "boards solved",
              .x_axis = Axis::Log,
              .curves = {}},
             [](const Group& all) {
               const auto cycles = [](const Json& record) {
                 return std::pair(record.at("config").at("h_cycles").get<int64_t>(),
                                  record.at("config").at("l_cycles").get<int64_t>());
               };
               const Json& last = *all.back();
               Group group;
               for (const Json* record : all)
                 if (cycles(*record) == cycles(last)) group.push_back(record);
               return curves_across(
                   group,
                   {.value = [](const Json& r) { return r.at("multiply_adds").get<double>(); },
                    .without = {Variation::Steps}});
             });
  return chart;
}

Chart make_breadth(const Results& results) {
  constexpr std::array<std::string_view, 3> kStudies = {"rollouts", "eqr-breadth", "ptrm"};
  Chart chart{.title = "Several trajectories a board",
              .subtitle = "Boards solved, the answer chosen by the halting head; 95 % bands",
              .keys = {},
              .panels = {}};
  add_panels(
      chart, groups_of(results, kStudies),
      {.heading = "",
       .x_name = "trajectories a board (log scale)",
       .y_name = "boards solved",
       .x_axis = Axis::Log,
       .curves = {}},
      [](const Group& group) {
        return curves_across(
            group,
            {.value =
                 [](const Json& r) {
                   return r.at("config").at(Json::json_pointer("/rollouts/count")).get<double>();
                 },
             .without = {Variation::Rollouts}});
      });
  return chart;
}

}  // namespace driftless::report
