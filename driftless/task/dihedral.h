// SPDX-License-Identifier: Apache-2.0
// The eight symmetries of a rectangle's cells, numbered as the reference data sets number them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace driftless::task {

/// 1, 2 and 3 turn counter-clockwise by 90, 180 and 270 degrees. Ids are written to files.
enum class Dihedral : uint8_t {
  Identity = 0,
  Turn90 = 1,
  Turn180 = 2,
  Turn270 = 3,
  FlipLeftRight = 4,
  FlipUpDown = 5,
  Transpose = 6,
  AntiTranspose = 7,
};
inline constexpr int64_t kDihedralCount = 8;

/// The symmetry with this id. Throws InvalidArgument unless 0 <= id < 8.
Dihedral dihedral_from_id(int64_t id);

Dihedral inverse(Dihedral symmetry);

struct Extent {
  int64_t rows = 0;
  int64_t columns = 0;

  [[nodiscard]] constexpr int64_t size() const { return rows * columns; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Rows and columns change places under odd turns and both transpositions.
Extent image_extent(Dihedral symmetry, Extent extent);

/// The cells, row by row, of the image. Requires extent.size() cells.
std::vector<uint8_t> image_cells(Dihedral symmetry, Extent extent, std::span<const uint8_t> cells);

}  // namespace driftless::task
