// SPDX-License-Identifier: Apache-2.0
// Variants of an ARC task: colors renamed, then all grids turned or flipped. The name of a variant
// says how to undo it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/task/arc/grid.h"

namespace driftless::task::arc {

struct Variant {
  std::array<uint8_t, kColorCount> color_to = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Dihedral symmetry = Dihedral::Identity;

  friend bool operator==(const Variant&, const Variant&) = default;
};

/// Color 0 stays, 1..9 are permuted; any of the eight symmetries.
Variant random_variant(Rng& rng);

Grid apply(const Variant& variant, const Grid& grid);
Grid undo(const Variant& variant, const Grid& grid);
/// The task under its variant name.
Puzzle apply(const Variant& variant, const Puzzle& puzzle);

/// "name|||t<symmetry id>|||<ten digits: what colors 0..9 become>".
std::string variant_name(std::string_view puzzle, const Variant& variant);

struct NamedVariant {
  std::string puzzle;
  Variant variant;
};
/// Undoes variant_name, also in HRM's spelling "name_t<id>_<ten digits>"; any other name without
/// "|||" is a task as it is. Throws InvalidArgument when what follows "|||" is malformed or its
/// digits are no permutation.
NamedVariant parse_variant_name(std::string_view name);

/// Up to `count` variants whose images of the task differ from the task and from each other (as
/// sets of pairs, whatever their order). Gives up after 5 * count draws, so that symmetric tasks
/// get fewer.
std::vector<Variant> distinct_variants(const Puzzle& puzzle, int64_t count, Rng& rng);

}  // namespace driftless::task::arc
