// SPDX-License-Identifier: Apache-2.0
// Rows of marks with intervals; labels at the left, notes at the right.
#include <algorithm>
#include <cmath>

#include "driftless/report/figure/panels.h"
#include "driftless/report/figure/scale.h"

namespace driftless::report {
namespace {

constexpr double kRowHeight = 25;
constexpr double kLineHeight = 16;
constexpr double kMostLabel = 268;

double widest(const DotPanel& panel, const std::string Row::*text, double most) {
  double width = 0;
  for (const Row& row : panel.rows)
    for (const std::string& line : wrapped(row.*text, most))
      width = std::max(width, width_of(line));
  return width;
}

Scale scale_of(const DotPanel& panel) {
  std::vector<double> values;
  const auto add = [&](const Estimate& at) {
    for (const double value : {at.value, at.high}) values.push_back(value);
  };
  for (const Row& row : panel.rows)
    for (const Mark& mark : row.marks) add(mark.at);
  if (panel.reference) add(*panel.reference);
  return {values, Axis::Linear, panel.unit};
}

void draw_reference(Svg& svg, const Estimate& reference, const Scale& scale, const Box& plot) {
  if (std::isfinite(reference.low)) {
    const double left = scale.at(reference.low);
    const double right = scale.at(reference.high);
    svg.band({{left, plot.top}, {right, plot.top}, {right, plot.bottom}, {left, plot.bottom}},
             Tone::Quiet);
  }
  const double x = scale.at(reference.value);
  svg.line({x, plot.top}, {x, plot.bottom}, Stroke::Dashed, Tone::Quiet);
}

void draw_row(Svg& svg, const Row& row, const Scale& scale, Place middle) {
  // Marks of one row stand a little apart, so that intervals that overlap can be seen.
  const double apart = row.marks.size() > 1 ? 5 : 0;
  double y = middle.y - apart * static_cast<double>(row.marks.size() - 1) / 2;
  for (const Mark& mark : row.marks) {
    if (std::isfinite(mark.at.low))
      svg.line({scale.at(mark.at.low), y}, {scale.at(mark.at.high), y}, Stroke::Whisker, mark.tone);
    if (scale.shows(mark.at.value)) svg.symbol({scale.at(mark.at.value), y}, mark.tone);
    y += apart;
  }
}

double height_of(const Row& row) {
  const auto lines = static_cast<double>(wrapped(row.label, kMostLabel).size());
  return std::max(kRowHeight, lines * kLineHeight + 8);
}

}  // namespace

double draw_dots(Svg& svg, const DotPanel& panel, double top) {
  const double note = widest(panel, &Row::note, kSvgWidth);
  Box plot{.left = kMargin + widest(panel, &Row::label, kMostLabel) + 12,
           .top = top,
           .right = kSvgWidth - kMargin - (note > 0 ? note + 12 : 0),
           .bottom = top};
  for (const Row& row : panel.rows) plot.bottom += height_of(row);
  Scale scale = scale_of(panel);
  scale.onto(plot.left + 6, plot.right - 6);
  for (const double tick : scale.ticks()) {
    const double x = scale.at(tick);
    svg.line({x, plot.top}, {x, plot.bottom}, Stroke::Grid, Tone::Quiet);
    svg.text({x, plot.bottom + 17}, scale.name(tick), {Anchor::Middle, Tone::Quiet});
  }
  if (panel.reference) draw_reference(svg, *panel.reference, scale, plot);
  double y = plot.top;
  for (const Row& row : panel.rows) {
    const double middle = y + height_of(row) / 2;
    const std::vector<std::string> lines = wrapped(row.label, kMostLabel);
    double line = middle + 5 - kLineHeight * static_cast<double>(lines.size() - 1) / 2;
    for (const std::string& text : lines) {
      svg.text({plot.left - 10, line}, text, {.anchor = Anchor::End});
      line += kLineHeight;
    }
    draw_row(svg, row, scale, {0, middle});
    svg.text({plot.right + 10, middle + 5}, row.note, {.tone = row.note_tone});
    y += height_of(row);
  }
  svg.text({(plot.left + plot.right) / 2, plot.bottom + 37}, panel.x_name,
           {Anchor::Middle, Tone::Quiet});
  return plot.bottom + 46;
}

std::vector<std::string> wrapped(std::string_view label, double most) {
  const size_t comma = label.rfind(", ");
  if (width_of(label) <= most || comma == std::string_view::npos) return {std::string(label)};
  std::vector<std::string> lines = wrapped(label.substr(0, comma), most);
  lines.back() += ',';
  lines.emplace_back(label.substr(comma + 2));
  return lines;
}

}  // namespace driftless::report
