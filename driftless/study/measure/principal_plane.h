// SPDX-License-Identifier: Apache-2.0
// The plane through the origin that holds most of a cloud of points: where to draw it.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace driftless::study {

struct PrincipalPlane {
  std::array<std::vector<double>, 2> axes;  ///< orthonormal; zero where the points span less
  std::array<double, 2> share{};            ///< of the points' sum of squares along each axis

  [[nodiscard]] std::array<double, 2> project(std::span<const float> point) const;
};

/// The leading two eigenvectors of sum x x^T, by orthogonal iteration from fixed start vectors. The
/// largest coordinate of each axis is positive. Throws InvalidArgument without points or where
/// their lengths differ.
PrincipalPlane principal_plane(std::span<const std::vector<float>> points);

}  // namespace driftless::study
