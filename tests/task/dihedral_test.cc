// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/dihedral.h"

#include <array>
#include <numeric>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::task {
namespace {

std::string image_of(int64_t id, Extent extent, std::string_view text) {
  const std::vector<uint8_t> cells(text.begin(), text.end());
  const auto image = image_cells(dihedral_from_id(id), extent, cells);
  return {image.begin(), image.end()};
}

TEST(Dihedral, HasTheReferenceNumbering) {
  //  a b c
  //  d e f
  const Extent extent{.rows = 2, .columns = 3};
  const std::array<std::string_view, 8> expected = {"abcdef", "cfbead", "fedcba", "daebfc",
                                                    "cbafed", "defabc", "adbecf", "fcebda"};
  for (int64_t id = 0; id < kDihedralCount; ++id)
    EXPECT_EQ(image_of(id, extent, "abcdef"), expected[static_cast<size_t>(id)]) << id;
  for (const int64_t id : {1, 3, 6, 7})
    EXPECT_EQ(image_extent(dihedral_from_id(id), extent), (Extent{.rows = 3, .columns = 2}));
  for (const int64_t id : {0, 2, 4, 5})
    EXPECT_EQ(image_extent(dihedral_from_id(id), extent), extent);
}

TEST(Dihedral, InverseUndoes) {
  const Extent extent{.rows = 4, .columns = 7};
  std::vector<uint8_t> cells(28);
  std::iota(cells.begin(), cells.end(), uint8_t{0});
  for (int64_t id = 0; id < kDihedralCount; ++id) {
    const Dihedral symmetry = dihedral_from_id(id);
    const auto image = image_cells(symmetry, extent, cells);
    EXPECT_EQ(image_cells(inverse(symmetry), image_extent(symmetry, extent), image), cells);
  }
}

TEST(Dihedral, IdsOutOfRangeAreErrors) {
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "got 8",
                                   [] { dihedral_from_id(8); });
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "got -1",
                                   [] { dihedral_from_id(-1); });
}

}  // namespace
}  // namespace driftless::task
