// SPDX-License-Identifier: Apache-2.0
// From results to charts, one function a figure; figures.cc names them.
#pragma once

#include "driftless/report/figure/chart.h"
#include "driftless/report/results.h"

namespace driftless::report {

Chart make_ladder(const Results& results);
Chart make_rows(const Results& results);
Chart make_granularity(const Results& results);
Chart make_axis(const Results& results);
Chart make_robustness(const Results& results);

Chart make_trajectory(const Results& results);
Chart make_steps(const Results& results);
Chart make_dose(const Results& results);
Chart make_depth(const Results& results);
Chart make_breadth(const Results& results);

Chart make_qat(const Results& results);
Chart make_training(const Results& results);
Chart make_evals(const Results& results);
Chart make_speed(const Results& results);

}  // namespace driftless::report
