// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/ladder.h"

#include <algorithm>
#include <cstdio>

#include "driftless/study/measure/metrics.h"

namespace driftless::study {
namespace {

constexpr std::array<std::string_view, 9> kHeads = {
    "weights", "activations", "bits w/a", "exact %", "cells %", "exact less float (p)",
    "verdict", "run",         "time"};

using Cells = std::array<std::string, kHeads.size()>;

template <class... Args>
std::string format(const char* pattern, Args... args) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), pattern, args...);
  return text.data();
}

std::string share_text(const Json& share, const char* value_key) {
  return format("%.2f (%.2f-%.2f)", 100 * share.at(value_key).get<double>(),
                100 * share.at("low").get<double>(), 100 * share.at("high").get<double>());
}

std::string difference_text(const Json& record) {
  if (record.at("execution") == "float") return "-";
  const Json& paired = record.at("paired");
  return format("%+.2f (%.2g)", 100 * paired.at("difference").get<double>(),
                paired.at("p_value").get<double>());
}

std::string verdict_text(const Json& record) {
  const Json& verdict = record.at("verdict");
  if (verdict.is_null() || record.at("execution") == "float") return "-";
  return verdict.at("latent").get<std::string>();
}

/// What a quantizer's text does not say: the rest of the row that differs from a plain one.
std::string extras(const Json& config) {
  std::string text;
  if (!config.at("smooth").is_null())
    text += format(" smooth %g", config.at("smooth").get<double>());
  if (config.at("hadamard").get<bool>()) text += " hadamard";
  if (config.contains("delta")) text += " delta";
  if (config.contains("attention"))
    text += " attention " + config.at("attention").get<std::string>();
  if (config.at("scales") != "all") text += " per " + config.at("scales").get<std::string>();
  if (!config.at("calibration").is_null())
    text += " seed " + config.at("calibration").at("seed").dump();
  return text;
}

Cells cells_of(const Json& record) {
  const Json& config = record.at("config");
  const Json& bits = record.at("bits");
  const Json& ratio = record.at("timing").at("ratio");
  return {config.at("weights").get<std::string>(),
          config.at("acts").get<std::string>() + extras(config),
          format("%.3g / %.3g", bits.at("weights").get<double>(), bits.at("acts").get<double>()),
          share_text(record.at("exact"), "share"),
          share_text(record.at("cells"), "mean"),
          difference_text(record),
          verdict_text(record),
          record.at("execution").get<std::string>(),
          ratio.is_null() ? "-" : format("%.2f x", ratio.get<double>())};
}

std::string_view color_of(const std::string& verdict) {
  if (verdict == to_string(Verdict::Contracts)) return "\x1b[32m";
  if (verdict == to_string(Verdict::Saturates)) return "\x1b[33m";
  if (verdict == to_string(Verdict::Drifts)) return "\x1b[31m";
  return "";
}

std::string padded(std::string_view text, size_t width) {
  return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

using Widths = std::span<const size_t>;

std::string line(const Cells& cells, Widths widths, TableStyle style, std::string_view color) {
  const bool is_markdown = style == TableStyle::Markdown;
  std::string text(is_markdown ? "| " : "");
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = padded(cells[i], widths[i]);
    text += color.empty() ? cell : std::string(color) + cell + "\x1b[0m";
    text += is_markdown ? " | " : "  ";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string head_line(Widths widths, TableStyle style) {
  Cells heads;
  std::copy(kHeads.begin(), kHeads.end(), heads.begin());
  std::string text = line(heads, widths, style, style == TableStyle::Colored ? "\x1b[1m" : "");
  if (style == TableStyle::Markdown) {
    text += "|";
    for (size_t i = 0; i < kHeads.size(); ++i) text += "---|";
    text += "\n";
  }
  return text;
}

std::string row_line(const Cells& row, Widths widths, TableStyle style) {
  return line(row, widths, style, style == TableStyle::Colored ? color_of(row[6]) : "");
}

}  // namespace

Row ladder_row(std::string_view text) {
  const size_t colon = text.find(':');
  Row row;
  row.scheme.weights = quant::parse_quant_spec(text.substr(0, colon));
  row.scheme.acts =
      quant::parse_quant_spec(colon == std::string_view::npos ? text : text.substr(colon + 1));
  return row;
}

std::vector<Json> sort_for_ladder(std::span<const Json> records) {
  std::vector<Json> sorted(records.begin(), records.end());
  const auto bits = [](const Json& record) {
    return record.at("bits").at("weights").get<double>() +
           record.at("bits").at("acts").get<double>();
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Json& a, const Json& b) {
    const auto hits_a = a.at("exact").at("share").get<double>();
    const auto hits_b = b.at("exact").at("share").get<double>();
    return hits_a != hits_b ? hits_a > hits_b : bits(a) < bits(b);
  });
  return sorted;
}

std::string native_notes(std::span<const Json> records) {
  std::string notes;
  for (const Json& record : records) {
    if (!record.contains("simulation")) continue;
    const Json& paired = record.at("simulation").at("paired");
    const Json& same = record.at("simulation").at("same_answers");
    const Json& config = record.at("config");
    notes +=
        "native less simulated, " + config.at("weights").get<std::string>() + " " +
        config.at("acts").get<std::string>() + ": " +
        format("%+.2f points (%+.2f to %+.2f), %s lost, %s gained, p %.2g; ",
               100 * paired.at("difference").get<double>(), 100 * paired.at("low").get<double>(),
               100 * paired.at("high").get<double>(), paired.at("lost").dump().c_str(),
               paired.at("gained").dump().c_str(), paired.at("p_value").get<double>()) +
        same.at("hits").dump() + " of " + same.at("n").dump() + " answers the same\n";
  }
  return notes;
}

std::string ladder_table(std::span<const Json> records, TableStyle style) {
  std::vector<Cells> rows;
  for (const Json& record : sort_for_ladder(records)) rows.push_back(cells_of(record));
  std::array<size_t, kHeads.size()> widths{};
  for (size_t i = 0; i < widths.size(); ++i) {
    widths[i] = kHeads[i].size();
    for (const Cells& row : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = head_line(widths, style);
  for (const Cells& row : rows) text += row_line(row, widths, style);
  return text;
}

LadderLines::LadderLines(std::span<const Row> rows, TableStyle style) : style_(style) {
  // The widest that numbers and words get; quantizers are known.
  constexpr Cells::size_type kWeights = 0, kActs = 1;
  const std::array<std::string_view, kHeads.size()> widest = {"",
                                                              "",
                                                              "4.25 / 4.25",
                                                              "100.00 (100.00-100.00)",
                                                              "100.00 (100.00-100.00)",
                                                              "",
                                                              "saturates",
                                                              "simulated",
                                                              "100.00 x"};
  for (size_t i = 0; i < kHeads.size(); ++i)
    widths_.push_back(std::max(kHeads[i].size(), widest[i].size()));
  for (const Row& row : rows) {
    widths_[kWeights] = std::max(widths_[kWeights], quant::to_string(row.scheme.weights).size());
    widths_[kActs] = std::max(widths_[kActs], quant::to_string(row.scheme.acts).size());
  }
}

std::string LadderLines::head() const { return head_line(widths_, style_); }

std::string LadderLines::line(const Json& record) const {
  return row_line(cells_of(record), widths_, style_);
}

}  // namespace driftless::study
