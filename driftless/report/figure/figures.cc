// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/figure/figures.h"

#include <algorithm>
#include <array>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"
#include "driftless/report/figure/makers.h"
#include "driftless/report/figure/rows.h"

namespace driftless::report {
namespace {

constexpr std::array<Figure, 14> kFigures = {
    {{"ladder", "boards solved under each number format, best first", "ladder, format-ladder",
      make_ladder},
     {"rows", "boards solved by each row of a study, in its order", "any study", make_rows},
     {"granularity", "boards solved by how many values share a scale",
      "granularity, granularity-channel", make_granularity},
     {"axis", "float, a scale a block and a scale a tensor, model by model", "any ladder",
      make_axis},
     {"robustness", "float, a scale a block and coarse weights, training by training",
      "rate-robustness", make_robustness},
     {"trajectory", "distance from the float trajectory, step by step", "any study with steps",
      make_trajectory},
     {"steps", "boards solved after each step", "any study with steps", make_steps},
     {"dose", "boards solved over the inner cycles", "dose-response, maze-ladder, clipping",
      make_dose},
     {"depth", "boards solved over the work a board takes", "depth-precision", make_depth},
     {"breadth", "boards solved over the trajectories a board", "rollouts, ptrm, eqr-breadth",
      make_breadth},
     {"qat", "boards solved before and after training through a quantizer", "qat records",
      make_qat},
     {"training", "boards solved over a training run", "metrics.jsonl of train and qat",
      make_training},
     {"evals", "boards solved by each evaluated model", "eval --json", make_evals},
     {"speed", "a step of each path against float32", "bench --json", make_speed}}};

const Figure& figure_of(std::string_view name) {
  const auto* const found = std::find_if(kFigures.begin(), kFigures.end(),
                                         [&](const Figure& figure) { return figure.name == name; });
  std::array<std::string_view, kFigures.size()> names{};
  std::transform(kFigures.begin(), kFigures.end(), names.begin(),
                 [](const Figure& figure) { return figure.name; });
  DRIFTLESS_REQUIRE(found != kFigures.end(), ErrorCode::InvalidArgument, "report: figure; got ",
                    quote(name), ", expected one of ", join(names, ", "),
                    did_you_mean(name, names));
  return *found;
}

/// The results with the rows of these schemes alone.
Results chosen(const Results& results, const std::vector<std::string>& schemes) {
  Results kept = results;
  const auto is_other = [&](const Json& config) {
    return std::find(schemes.begin(), schemes.end(), scheme_word(config)) == schemes.end();
  };
  std::erase_if(kept.records, [&](const Json& record) { return is_other(record.at("config")); });
  std::erase_if(kept.qat, is_other);
  return kept;
}

void require_drawable(const Figure& figure, const Chart& chart) {
  DRIFTLESS_REQUIRE(!chart.panels.empty(), ErrorCode::InvalidArgument, "report: figure '",
                    figure.name, "'; got no records for it, expected ", figure.from);
  for (const Panel& panel : chart.panels)
    if (const auto* lines = std::get_if<LinePanel>(&panel))
      DRIFTLESS_REQUIRE(std::ssize(lines->curves) <= kMostCurves, ErrorCode::InvalidArgument,
                        "report: figure '", figure.name, "', ", lines->heading, "; got ",
                        lines->curves.size(), " curves, expected at most ", kMostCurves,
                        "; choose with --schemes, or give fewer files");
}

}  // namespace

std::span<const Figure> figures() { return kFigures; }

std::string figure_names() {
  std::array<std::string_view, kFigures.size()> names{};
  std::transform(kFigures.begin(), kFigures.end(), names.begin(),
                 [](const Figure& figure) { return figure.name; });
  return join(names, ", ");
}

std::string draw_figure(const Results& results, const FigureChoice& choice) {
  const Figure& figure = figure_of(choice.name);
  const Chart chart =
      figure.make(choice.schemes.empty() ? results : chosen(results, choice.schemes));
  require_drawable(figure, chart);
  return draw_svg(chart);
}

}  // namespace driftless::report
