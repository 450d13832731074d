// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/figure/scale.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "driftless/report/figure/svg.h"

namespace driftless::report {
namespace {

constexpr double kMostTicks = 6;

/// 1, 2 or 5 times a power of ten, so that at most kMostTicks of them span the range.
double round_step(double span) {
  const double least = span / (kMostTicks - 1);
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

Scale::Scale(const std::vector<double>& values, Axis axis, Unit unit) : axis_(axis), unit_(unit) {
  *this = tight(values, axis);
  unit_ = unit;
  if (axis == Axis::Log) {
    low_ /= 1.15;
    high_ *= 1.15;
    return;
  }
  low_ = std::min(0.0, low_);
  if (unit == Unit::Share) high_ = std::min(1.0, high_);
  if (!(high_ > low_)) high_ = low_ + 1;
  step_ = round_step(high_ - low_);
  low_ = step_ * std::floor(low_ / step_ + 1e-9);
  high_ = step_ * std::ceil(high_ / step_ - 1e-9);
}

Scale Scale::tight(const std::vector<double>& values, Axis axis) {
  Scale scale(axis, Unit::Number);
  std::vector<double> shown;
  for (const double value : values)
    if (scale.shows(value)) shown.push_back(value);
  if (shown.empty()) shown = {1, 2};
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  scale.low_ = *low;
  scale.high_ = *high > *low ? *high : *low * 2 + 1;
  scale.step_ = round_step(scale.high_ - scale.low_);
  return scale;
}

void Scale::onto(double from, double to) {
  from_ = from;
  to_ = to;
}

bool Scale::shows(double value) const {
  return std::isfinite(value) && (axis_ == Axis::Linear || value > 0);
}

double Scale::at(double value) const {
  const double kept = std::clamp(value, low_, high_);
  const double share = axis_ == Axis::Linear ? (kept - low_) / (high_ - low_)
                                             : std::log(kept / low_) / std::log(high_ / low_);
  return from_ + share * (to_ - from_);
}

std::vector<double> Scale::log_ticks() const {
  const double span = high_ / low_;
  const std::vector<double> factors = span > 100 ? std::vector<double>{1}
                                      : span > 8 ? std::vector<double>{1, 2, 5}
                                                 : std::vector<double>{1, 1.5, 2, 3, 5, 7};
  std::vector<double> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(low_))); power <= high_; power *= 10)
    for (const double factor : factors)
      if (power * factor >= low_ && power * factor <= high_) ticks.push_back(power * factor);
  return ticks;
}

std::vector<double> Scale::ticks() const {
  if (axis_ == Axis::Log) return log_ticks();
  std::vector<double> ticks;
  for (double n = std::ceil(low_ / step_ - 1e-9); n * step_ <= high_ + step_ * 1e-6; ++n)
    ticks.push_back(n * step_);
  return ticks;
}

std::string Scale::name(double tick) const {
  if (unit_ == Unit::Share) return fixed(100 * tick, step_ < 0.0099 ? 1 : 0) + " %";
  const double size = std::abs(tick);
  constexpr std::array<std::pair<double, std::string_view>, 3> kUnits = {
      {{1e9, " G"}, {1e6, " M"}, {1e4, " k"}}};
  for (const auto& [least, unit] : kUnits)
    if (size >= least) {
      const double scaled = tick / (least == 1e4 ? 1e3 : least);
      return fixed(scaled, scaled == std::round(scaled) ? 0 : 1) + std::string(unit);
    }
  if (tick == std::round(tick)) return grouped(std::llround(tick));
  return fixed(tick, size < 0.1 ? 3 : size < 1 ? 2 : 1);
}

std::string value_text(double value, Unit unit) {
  if (!std::isfinite(value)) return "no value";
  if (unit == Unit::Share) return fixed(100 * value, 1) + " %";
  return fixed(value, std::abs(value) < 10 ? 2 : 0);
}

std::string grouped(int64_t count) {
  std::string digits = std::to_string(count);
  const int64_t first = count < 0 ? 1 : 0;
  for (int64_t at = std::ssize(digits) - 3; at > first; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

}  // namespace driftless::report
