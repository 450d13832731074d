// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/augment.h"

#include <set>

#include <gtest/gtest.h>

#include "driftless/task/arc/json.h"

#include "tests/task/arc/random_puzzle.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"

namespace driftless::task::arc {
namespace {

using driftless::testing::expect_error;

/// A variant through its name, a canvas and back.
Grid round_trip(const Variant& variant, const Grid& grid) {
  const Grid seen = crop(encode(apply(variant, grid), {}));
  return undo(parse_variant_name(variant_name("task", variant)).variant, seen);
}

TEST(ArcAugment, RenamesColorsThenMovesCells) {
  Variant variant{.color_to = {0, 2, 1, 3, 4, 5, 6, 7, 9, 8}, .symmetry = Dihedral::Transpose};
  const Grid grid{.extent = {.rows = 1, .columns = 3}, .cells = {0, 1, 8}};
  const Grid image = apply(variant, grid);
  EXPECT_EQ(image.extent, (Extent{.rows = 3, .columns = 1}));
  EXPECT_EQ(image.cells, (std::vector<uint8_t>{0, 2, 9}));
  EXPECT_EQ(variant_name("007bbfb7", variant), "007bbfb7|||t6|||0213456798");
}

TEST(ArcAugment, EncodeAugmentInvertDecodeIsTheIdentity) {
  Rng rng(1);
  for (int64_t i = 0; i < 500; ++i) {
    const Grid grid = random_grid(rng);
    ASSERT_EQ(round_trip(random_variant(rng), grid), grid);
  }
}

TEST(ArcAugment, IsTheIdentityOnEverySharedGrid) {
  const auto folder = driftless::testing::shared_path("data/arc");
  DRIFTLESS_NEEDS_FILE(folder);
  Rng rng(2);
  int64_t grids = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    for (const Puzzle& task : read_puzzles(entry.path()))
      for (const auto* pairs : {&task.train, &task.test})
        for (const Pair& pair : *pairs)
          for (const Grid& grid : {pair.input, pair.output.value()}) {
            ASSERT_EQ(round_trip(random_variant(rng), grid), grid) << task.name;
            ++grids;
          }
  }
  EXPECT_GT(grids, 10000);
}

TEST(ArcAugment, NamesWithoutSuffixAreTheTaskItself) {
  const NamedVariant plain = parse_variant_name("007bbfb7");
  EXPECT_EQ(plain.puzzle, "007bbfb7");
  EXPECT_EQ(plain.variant, Variant{});
}

TEST(ArcAugment, MalformedNamesAreErrors) {
  for (const char* name :
       {"x|||", "x|||t8|||0123456789", "x|||t1|||012345678", "x|||t1|||0123456788",
        "x|||t1|||01234567890", "x|||1|||0123456789", "x|||t1||0123456789", "x|||t1|||012345678:"})
    expect_error(ErrorCode::InvalidArgument, "bad variant name", [&] { parse_variant_name(name); });
}

TEST(ArcAugment, BlackStaysAndAllSymmetriesAppear) {
  Rng rng(3);
  std::set<Dihedral> symmetries;
  for (int64_t i = 0; i < 200; ++i) {
    const Variant variant = random_variant(rng);
    EXPECT_EQ(variant.color_to[0], 0);
    EXPECT_EQ(std::set(variant.color_to.begin(), variant.color_to.end()).size(), 10u);
    symmetries.insert(variant.symmetry);
  }
  EXPECT_EQ(symmetries.size(), 8u);
}

TEST(ArcAugment, VariantsAreDistinct) {
  Rng rng(4);
  const Puzzle task = random_puzzle(rng);
  const auto variants = distinct_variants(task, 50, rng);
  ASSERT_EQ(variants.size(), 50u);
  std::set<std::string> names;
  for (const Variant& variant : variants) {
    const Puzzle image = apply(variant, task);
    EXPECT_EQ(image.name, variant_name("random", variant));
    EXPECT_EQ(undo(variant, image.test[0].input), task.test[0].input);
    names.insert(image.name);
  }
  EXPECT_EQ(names.size(), 50u);
  // Black squares look the same however turned and recolored: no variant at all.
  const Grid black{.extent = {.rows = 2, .columns = 2}, .cells = {0, 0, 0, 0}};
  const Puzzle dull{.name = "dull", .train = {{.input = black, .output = black}}, .test = {}};
  EXPECT_TRUE(distinct_variants(dull, 10, rng).empty());
  // One color on a square: eight other colors.
  const Grid red{.extent = {.rows = 1, .columns = 1}, .cells = {2}};
  const Puzzle plain{.name = "plain", .train = {{.input = red, .output = red}}, .test = {}};
  EXPECT_EQ(distinct_variants(plain, 100, rng).size(), 8u);
}

}  // namespace
}  // namespace driftless::task::arc
