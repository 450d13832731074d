// SPDX-License-Identifier: Apache-2.0
// Figures by name: the table that report --figure, its help and its tests read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/report/figure/chart.h"
#include "driftless/report/results.h"

namespace driftless::report {

struct Figure {
  std::string_view name;
  std::string_view shows;
  std::string_view from;  ///< the records that it needs
  Chart (*make)(const Results& results);
};

std::span<const Figure> figures();

/// "ladder, rows, ...".
std::string figure_names();

struct FigureChoice {
  std::string name;
  std::vector<std::string> schemes;  ///< only these rows, as ladder takes them; all if empty
};

/// The picture as SVG. Throws InvalidArgument where the name is unknown (the message lists them),
/// where the results have no records for it, and where it would have more curves than can be told
/// apart.
std::string draw_figure(const Results& results, const FigureChoice& choice);

}  // namespace driftless::report
