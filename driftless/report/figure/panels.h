// SPDX-License-Identifier: Apache-2.0
// The two kinds of panels, drawn from a height downwards; each returns the height below it.
#pragma once

#include "driftless/report/figure/svg.h"

namespace driftless::report {

double draw_dots(Svg& svg, const DotPanel& panel, double top);
double draw_lines(Svg& svg, const LinePanel& panel, double top);

inline constexpr double kMargin = 18;

/// A label in lines of at most so many units, broken at its commas.
std::vector<std::string> wrapped(std::string_view label, double most);

}  // namespace driftless::report
