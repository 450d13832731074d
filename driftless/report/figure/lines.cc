// SPDX-License-Identifier: Apache-2.0
// Curves with bands; each has its name at its right end instead of a legend.
#include <algorithm>
#include <cmath>

#include "driftless/report/figure/panels.h"
#include "driftless/report/figure/scale.h"

namespace driftless::report {
namespace {

constexpr double kPlotHeight = 250;
constexpr double kLabelHeight = 16;
constexpr double kMostCurveLabel = 150;
constexpr double kGap = 5;  ///< between labels

/// Where a curve ends, and where the middle of its label comes to stand.
struct End {
  const Curve* curve = nullptr;
  Place at;
  std::vector<std::string> lines;
  double y = 0;

  [[nodiscard]] double height() const {
    return kLabelHeight * static_cast<double>(lines.size()) + kGap;
  }
};

/// Moves labels down, and then up, until none covers another.
void spread(std::vector<End>& ends, double top, double bottom) {
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.at.y < b.at.y; });
  double free = top;
  for (End& end : ends) {
    end.y = std::max(end.at.y, free + end.height() / 2);
    free = end.y + end.height() / 2;
  }
  free = bottom;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    end->y = std::min(end->y, free - end->height() / 2);
    free = end->y - end->height() / 2;
  }
}

void draw_curve(Svg& svg, const Curve& curve, const Scale& x, const Scale& y) {
  std::vector<Place> places;
  std::vector<Place> upper;
  std::vector<Place> lower;
  for (const Point& point : curve.points) {
    if (!y.shows(point.y.value)) continue;
    places.push_back({x.at(point.x), y.at(point.y.value)});
    if (!std::isfinite(point.y.low)) continue;
    upper.push_back({x.at(point.x), y.at(point.y.high)});
    lower.push_back({x.at(point.x), y.at(point.y.low)});
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  if (upper.size() > 2) svg.band(upper, curve.tone);
  svg.path(places, curve.tone);
  constexpr size_t kMostSymbols = 20;
  if (places.size() <= kMostSymbols)
    for (const Place& place : places) svg.symbol(place, curve.tone);
}

void draw_axes(Svg& svg, const LinePanel& panel, const Scale& x, const Scale& y, const Box& plot) {
  for (const double tick : y.ticks()) {
    svg.line({plot.left, y.at(tick)}, {plot.right, y.at(tick)}, Stroke::Grid, Tone::Quiet);
    svg.text({plot.left - 8, y.at(tick) + 5}, y.name(tick), {Anchor::End, Tone::Quiet});
  }
  for (const double tick : x.ticks())
    svg.text({x.at(tick), plot.bottom + 20}, x.name(tick), {Anchor::Middle, Tone::Quiet});
  svg.text({(plot.left + plot.right) / 2, plot.bottom + 40}, panel.x_name,
           {Anchor::Middle, Tone::Quiet});
  svg.text({kMargin, plot.top - 12}, panel.y_name, {.tone = Tone::Quiet});
}

Scale y_scale(const LinePanel& panel) {
  std::vector<double> values;
  for (const Curve& curve : panel.curves)
    for (const Point& point : curve.points)
      for (const double value : {point.y.value, point.y.low, point.y.high}) values.push_back(value);
  return {values, panel.y_axis, panel.unit};
}

Scale x_scale(const LinePanel& panel) {
  std::vector<double> values;
  for (const Curve& curve : panel.curves)
    for (const Point& point : curve.points) values.push_back(point.x);
  return Scale::tight(values, panel.x_axis);
}

}  // namespace

double draw_lines(Svg& svg, const LinePanel& panel, double top) {
  double label = 0;
  for (const Curve& curve : panel.curves)
    for (const std::string& line : wrapped(curve.label, kMostCurveLabel))
      label = std::max(label, width_of(line, Weight::Bold));
  const Box plot{.left = kMargin + 52,
                 .top = top + 24,
                 .right = kSvgWidth - kMargin - label - 26,
                 .bottom = top + 24 + kPlotHeight};
  Scale x = x_scale(panel);
  Scale y = y_scale(panel);
  x.onto(plot.left + 8, plot.right - 4);
  y.onto(plot.bottom, plot.top);
  draw_axes(svg, panel, x, y, plot);
  std::vector<End> ends;
  for (const Curve& curve : panel.curves) {
    draw_curve(svg, curve, x, y);
    const Point& last = curve.points.back();
    ends.push_back({.curve = &curve,
                    .at = {x.at(last.x), y.at(last.y.value)},
                    .lines = wrapped(curve.label, kMostCurveLabel)});
  }
  spread(ends, plot.top - 16, plot.bottom + 12);
  for (const End& end : ends) {
    svg.line({end.at.x + 6, end.at.y}, {plot.right + 16, end.y}, Stroke::Grid, end.curve->tone);
    double line = end.y + 5 - kLabelHeight * static_cast<double>(end.lines.size() - 1) / 2;
    for (const std::string& text : end.lines) {
      svg.text({plot.right + 20, line}, text, {.tone = end.curve->tone, .weight = Weight::Bold});
      line += kLabelHeight;
    }
  }
  return plot.bottom + 48;
}

}  // namespace driftless::report
