// SPDX-License-Identifier: Apache-2.0
// From values to places, and the values that an axis names.
#pragma once

#include <string>
#include <vector>

#include "driftless/report/figure/chart.h"

namespace driftless::report {

class Scale {
 public:
  /// Round ends around the finite ones of the values: from 0 on a linear axis, with room on a
  /// logarithmic one, at most 1 for shares.
  Scale(const std::vector<double>& values, Axis axis, Unit unit);
  /// The ends as they are; for steps and counts.
  static Scale tight(const std::vector<double>& values, Axis axis);

  void onto(double from, double to);
  /// The place of a value, or of the end that it lies beyond.
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] std::vector<double> ticks() const;
  [[nodiscard]] bool shows(double value) const;  ///< is finite, and positive on a log axis
  [[nodiscard]] std::string name(double tick) const;

 private:
  Scale(Axis axis, Unit unit) : axis_(axis), unit_(unit) {}
  [[nodiscard]] std::vector<double> log_ticks() const;

  Axis axis_;
  Unit unit_;
  double low_ = 0;
  double high_ = 1;
  double step_ = 0.2;
  double from_ = 0;
  double to_ = 1;
};

/// "83.5 %", or a number of three digits or so.
std::string value_text(double value, Unit unit);
/// 9974 as 9,974.
std::string grouped(int64_t count);

}  // namespace driftless::report
