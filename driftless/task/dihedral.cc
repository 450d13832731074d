// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/dihedral.h"

#include <array>

#include "driftless/base/error.h"

namespace driftless::task {
namespace {

/// Image cell (i, j) is source cell (a, b), where (a, b) is (i, j), or (j, i) when the axes are
/// swapped, each counted from the far end where reversed.
struct Source {
  Dihedral inverse;
  bool swaps_axes;
  bool reverses_rows;
  bool reverses_columns;
};

constexpr std::array<Source, kDihedralCount> kSources = {{
    {Dihedral::Identity, false, false, false},
    {Dihedral::Turn270, true, false, true},
    {Dihedral::Turn180, false, true, true},
    {Dihedral::Turn90, true, true, false},
    {Dihedral::FlipLeftRight, false, false, true},
    {Dihedral::FlipUpDown, false, true, false},
    {Dihedral::Transpose, true, false, false},
    {Dihedral::AntiTranspose, true, true, true},
}};

constexpr const Source& source_of(Dihedral symmetry) {
  return kSources[static_cast<size_t>(symmetry)];
}

}  // namespace

Dihedral dihedral_from_id(int64_t id) {
  DRIFTLESS_REQUIRE(id >= 0 && id < kDihedralCount, ErrorCode::InvalidArgument,
                    "dihedral id out of range; got ", id, ", expected 0 to 7");
  return static_cast<Dihedral>(id);
}

Dihedral inverse(Dihedral symmetry) { return source_of(symmetry).inverse; }

Extent image_extent(Dihedral symmetry, Extent extent) {
  if (!source_of(symmetry).swaps_axes) return extent;
  return {.rows = extent.columns, .columns = extent.rows};
}

std::vector<uint8_t> image_cells(Dihedral symmetry, Extent extent, std::span<const uint8_t> cells) {
  DRIFTLESS_ASSERT(static_cast<int64_t>(cells.size()) == extent.size());
  const Source& source = source_of(symmetry);
  const Extent image = image_extent(symmetry, extent);
  std::vector<uint8_t> result;
  result.reserve(cells.size());
  for (int64_t i = 0; i < image.rows; ++i)
    for (int64_t j = 0; j < image.columns; ++j) {
      const int64_t row = source.swaps_axes ? j : i;
      const int64_t column = source.swaps_axes ? i : j;
      const int64_t a = source.reverses_rows ? extent.rows - 1 - row : row;
      const int64_t b = source.reverses_columns ? extent.columns - 1 - column : column;
      result.push_back(cells[static_cast<size_t>(a * extent.columns + b)]);
    }
  return result;
}

}  // namespace driftless::task
