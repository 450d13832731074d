// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/figure/chart.h"

#include "driftless/report/figure/panels.h"
#include "driftless/report/figure/svg.h"

namespace driftless::report {
namespace {

double draw_keys(Svg& svg, const std::vector<Key>& keys, double top) {
  double x = kMargin;
  for (const Key& key : keys) {
    const double width = width_of(key.label, Weight::Bold) + 34;
    if (x + width > kSvgWidth - kMargin && x > kMargin) {
      x = kMargin;
      top += 20;
    }
    svg.symbol({x + 6, top + 11}, key.tone);
    svg.text({x + 16, top + 16}, key.label, {.tone = key.tone, .weight = Weight::Bold});
    x += width;
  }
  return keys.empty() ? top : top + 30;
}

double draw_panel(Svg& svg, const Panel& panel, double top) {
  const std::string& heading =
      std::visit([](const auto& any) -> const std::string& { return any.heading; }, panel);
  if (!heading.empty()) {
    svg.text({kMargin, top + 14}, heading, {.weight = Weight::Bold});
    top += 26;
  }
  if (const auto* dots = std::get_if<DotPanel>(&panel)) return draw_dots(svg, *dots, top);
  return draw_lines(svg, std::get<LinePanel>(panel), top);
}

}  // namespace

std::string draw_svg(const Chart& chart) {
  Svg svg;
  svg.text({kMargin, 31}, chart.title, {.weight = Weight::Title});
  svg.text({kMargin, 52}, chart.subtitle, {.tone = Tone::Quiet});
  double height = draw_keys(svg, chart.keys, 62) + 8;
  for (const Panel& panel : chart.panels) height = draw_panel(svg, panel, height) + 8;
  return svg.finish(height, chart.title + ". " + chart.subtitle);
}

}  // namespace driftless::report
