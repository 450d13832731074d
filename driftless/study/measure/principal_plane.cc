// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/principal_plane.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"

namespace driftless::study {
namespace {

using Vector = std::vector<double>;

constexpr int kMostRounds = 200;
constexpr double kSettled = 1e-12;  // change of a squared cosine between rounds

template <class T>
double dot(const Vector& a, std::span<const T> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * static_cast<double>(b[i]);
  return sum;
}

template <class T>
void add_multiple(Vector& a, double factor, std::span<const T> b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += factor * static_cast<double>(b[i]);
}

/// Zero stays zero.
void normalize(Vector& a) {
  const double length = std::sqrt(dot<double>(a, a));
  for (double& value : a) value = length > 0 ? value / length : 0;
}

/// What is left of a unit-free vector beside `other` when rounding is all that remains counts as
/// zero.
void remove_direction(Vector& a, const Vector& other) {
  const double before = dot<double>(a, a);
  add_multiple<double>(a, -dot<double>(a, other), other);
  if (dot<double>(a, a) <= 1e-20 * before) std::fill(a.begin(), a.end(), 0.0);
}

Vector times_scatter(const Vector& axis, std::span<const std::vector<float>> points) {
  Vector result(axis.size());
  for (const std::vector<float>& point : points)
    add_multiple<float>(result, dot<float>(axis, point), point);
  return result;
}

void make_largest_positive(Vector& axis) {
  const auto largest = std::max_element(
      axis.begin(), axis.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (*largest >= 0) return;
  for (double& value : axis) value = -value;
}

}  // namespace

std::array<double, 2> PrincipalPlane::project(std::span<const float> point) const {
  return {dot<float>(axes[0], point), dot<float>(axes[1], point)};
}

PrincipalPlane principal_plane(std::span<const std::vector<float>> points) {
  DRIFTLESS_REQUIRE(!points.empty() && !points[0].empty(), ErrorCode::InvalidArgument,
                    "principal plane: no points");
  double total = 0;
  for (const std::vector<float>& point : points) {
    DRIFTLESS_REQUIRE(point.size() == points[0].size(), ErrorCode::InvalidArgument,
                      "principal plane: lengths; got ", points[0].size(), " and ", point.size());
    for (const float value : point)
      total += static_cast<double>(value) * static_cast<double>(value);
  }
  PrincipalPlane plane;
  Rng rng(1);
  for (Vector& axis : plane.axes) {
    axis.resize(points[0].size());
    for (double& value : axis) value = rng.gaussian();
    normalize(axis);
  }
  for (int round = 0; round < kMostRounds; ++round) {
    double least_overlap = 1;
    for (size_t i = 0; i < 2; ++i) {
      Vector next = times_scatter(plane.axes[i], points);
      if (i == 1) remove_direction(next, plane.axes[0]);
      normalize(next);
      const double cosine = dot<double>(next, plane.axes[i]);
      least_overlap = std::min(least_overlap, cosine * cosine);
      plane.axes[i] = std::move(next);
    }
    if (1 - least_overlap < kSettled) break;
  }
  for (size_t i = 0; i < 2; ++i) {
    make_largest_positive(plane.axes[i]);
    double along = 0;
    for (const std::vector<float>& point : points) {
      const double coordinate = dot<float>(plane.axes[i], point);
      along += coordinate * coordinate;
    }
    plane.share[i] = total > 0 ? along / total : 0;
  }
  return plane;
}

}  // namespace driftless::study
