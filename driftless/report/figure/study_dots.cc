// SPDX-License-Identifier: Apache-2.0
// Figures of studies with a line for each row.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "driftless/report/figure/makers.h"
#include "driftless/report/figure/rows.h"
#include "driftless/report/figure/scale.h"

namespace driftless::report {
namespace {

constexpr std::string_view kSolved = "boards solved after the last step";
const std::vector<Key> kVerdictKeys = {{"contracts toward the float trajectory", Tone::Blue},
                                       {"drifts or saturates", Tone::Orange}};

std::string share_note(const Json& record) {
  const std::string verdict = verdict_text(record);
  return value_text(record.at("exact").at("share").get<double>(), Unit::Share) +
         (verdict.empty() ? "" : ", " + verdict);
}

struct StudyTitle {
  std::string_view study;
  std::string_view title;
};

constexpr std::array<StudyTitle, 10> kTitles = {
    {{"decomposition", "Weights or activations?"},
     {"channel-weights", "Four-bit weights alone"},
     {"exponent-rules", "The rule for the shared exponent"},
     {"low-bits", "Below four bits"},
     {"outliers", "Outlier controls"},
     {"calibration-freshness", "Frozen or fresh scales"},
     {"calibration-size", "More calibration boards"},
     {"scale-sharing", "Scales per role and per call"},
     {"clipping", "Clipped activations"},
     {"delta", "Inputs, or what they change by"}}};

/// What the groups have in common, or nothing special.
std::string title_of(const std::vector<Group>& groups) {
  for (const StudyTitle& known : kTitles)
    if (!groups.empty() && std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
          return group.front()->at("study") == known.study;
        }))
      return std::string(known.title);
  return "Boards solved, row by row";
}

/// Rows with one name (repeated calibrations) share a line.
std::vector<Row> rows_of(const Group& group) {
  std::vector<Row> rows;
  for (const Json* record : group) {
    const std::string label = row_name(*record, group);
    const Mark mark{estimate(record->at("exact")), verdict_tone(*record)};
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.label == label; });
    if (same != rows.end())
      same->marks.push_back(mark);
    else
      rows.push_back({.label = label,
                      .marks = {mark},
                      .note = share_note(*record),
                      .note_tone = verdict_tone(*record)});
  }
  return rows;
}

std::optional<Estimate> float_line(const Group& group) {
  const Json& share = group.front()->at("float_exact");
  const bool is_one = std::all_of(group.begin(), group.end(), [&](const Json* record) {
    return record->at("float_exact") == share;
  });
  return is_one ? std::optional(estimate(share)) : std::nullopt;
}

/// The rows that differ from the first in their formats alone.
Group same_settings(const Group& group) {
  Group same;
  for (const Json* record : group) {
    const Json& config = record->at("config");
    const Json& first = group.front()->at("config");
    const bool is_same =
        std::ranges::all_of(std::array{"coverage", "h_cycles", "l_cycles", "steps"},
                            [&](const char* key) { return config.at(key) == first.at(key); });
    if (is_same) same.push_back(record);
  }
  return same;
}

constexpr std::array<std::string_view, 7> kLadders = {
    "format-ladder",   "ladder",     "hrm-ladder", "maze-ladder",
    "mini-arc-ladder", "stochastic", "untied"};

/// A scheme that every model of a figure is asked for.
struct Side {
  std::string_view word;
  std::string_view label;
  Tone tone;
};

/// What a model solves under a scheme; of repeated calibrations the first.
std::optional<Estimate> solved(const Group& group, std::string_view word) {
  if (word == "none") return estimate(group.front()->at("float_exact"));
  for (const Json* record : group)
    if (scheme_word(record->at("config")) == word) return estimate(record->at("exact"));
  return std::nullopt;
}

/// A row for each model that has float and another of the sides.
Chart by_model(const std::vector<Group>& groups, std::span<const Side> sides, std::string title) {
  Chart chart{.title = std::move(title),
              .subtitle = "Boards solved, 95 % intervals",
              .keys = {},
              .panels = {}};
  for (const Side& side : sides) chart.keys.push_back({std::string(side.label), side.tone});
  DotPanel panel{.heading = "", .x_name = std::string(kSolved), .rows = {}, .reference = {}};
  for (const Group& all : groups) {
    const Group group = same_settings(all);
    Row row{.label = group_name(group), .marks = {}, .note = ""};
    for (const Side& side : sides) {
      const std::optional<Estimate> share = solved(group, side.word);
      if (!share) continue;
      row.note += (row.marks.empty() ? "" : ", ") + value_text(share->value, Unit::Share);
      row.marks.push_back({*share, side.tone});
    }
    if (row.marks.size() > 1) panel.rows.push_back(std::move(row));
  }
  if (!panel.rows.empty()) chart.panels.emplace_back(std::move(panel));
  return chart;
}

}  // namespace

Chart make_ladder(const Results& results) {
  Chart chart{.title = "What each number format leaves of the model",
              .subtitle = "Boards solved, 95 % intervals; the dashed line is the float model",
              .keys = kVerdictKeys,
              .panels = {}};
  for (const Group& all : groups_of(results, kLadders)) {
    const Group group = same_settings(all);
    DotPanel panel{.heading = group_name(group),
                   .x_name = std::string(kSolved),
                   .rows = rows_of(group),
                   .reference = float_line(group)};
    std::stable_sort(panel.rows.begin(), panel.rows.end(), [](const Row& a, const Row& b) {
      return a.marks.front().at.value > b.marks.front().at.value;
    });
    chart.panels.emplace_back(std::move(panel));
  }
  return chart;
}

Chart make_rows(const Results& results) {
  const std::vector<Group> groups = groups_of(results, {});
  Chart chart{.title = title_of(groups),
              .subtitle = "Boards solved, 95 % intervals; the dashed line is the float model",
              .keys = kVerdictKeys,
              .panels = {}};
  for (const Group& group : groups)
    chart.panels.emplace_back(DotPanel{
        .heading = group_name(group) + ": " + group.front()->at("study").get<std::string>(),
        .x_name = std::string(kSolved),
        .rows = rows_of(group),
        .reference = float_line(group)});
  return chart;
}

Chart make_granularity(const Results& results) {
  struct Level {
    std::string_view acts;
    std::string_view label;
  };
  constexpr std::array<Level, 4> kLevels = {{{"int4", "one scale a tensor"},
                                             {"int4/token", "one a token"},
                                             {"int4/group32", "one for 32 values"},
                                             {"int4/group16", "one for 16 values"}}};
  constexpr std::array<std::string_view, 2> kStudies = {"granularity", "granularity-channel"};
  Chart chart{
      .title = "The more local the scale, the more survives",
      .subtitle = "Boards solved with int4 activations, by what shares a scale; 95 % intervals",
      .keys = {{"int4 weights, one scale a channel", Tone::Blue},
               {"int4 weights, one scale a tensor", Tone::Orange}},
      .panels = {}};
  for (const Group& group : groups_of(results, kStudies, Split::ByModel)) {
    DotPanel panel{.heading = group_name(group),
                   .x_name = std::string(kSolved),
                   .rows = {},
                   .reference = float_line(group)};
    for (const Level& level : kLevels) {
      Row row{.label = std::string(level.label), .marks = {}, .note = ""};
      for (const auto& [weights, tone] :
           {std::pair("int4/channel", Tone::Blue), std::pair("int4", Tone::Orange)})
        for (const Json* record : group)
          if (record->at("config").at("weights") == weights &&
              record->at("config").at("acts") == level.acts) {
            const Estimate solved = estimate(record->at("exact"));
            row.note += (row.marks.empty() ? "" : ", ") + value_text(solved.value, Unit::Share);
            row.marks.push_back({solved, tone});
          }
      if (!row.marks.empty()) panel.rows.push_back(std::move(row));
    }
    chart.panels.emplace_back(std::move(panel));
  }
  return chart;
}

Chart make_axis(const Results& results) {
  constexpr std::array<Side, 3> kSides = {
      {{"none", "float", Tone::Ink},
       {"mxint4", "MXInt4: a scale a block", Tone::Blue},
       {"int4/tensor/static", "int4: a scale a tensor", Tone::Orange}}};
  return by_model(groups_of(results, {}, Split::ByModel), kSides,
                  "One scale a tensor ends every system, one a block keeps most");
}

Chart make_robustness(const Results& results) {
  constexpr std::array<std::string_view, 1> kStudies = {"rate-robustness"};
  constexpr std::array<Side, 3> kSides = {
      {{"none", "float", Tone::Ink},
       {"mxint4", "MXInt4, both sides", Tone::Blue},
       {"int4:none", "int4 weights, a scale a tensor", Tone::Orange}}};
  return by_model(groups_of(results, kStudies, Split::ByModel), kSides,
                  "How a model was trained decides what rounding costs it");
}

}  // namespace driftless::report
