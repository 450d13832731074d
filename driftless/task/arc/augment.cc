// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/augment.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "driftless/base/error.h"
#include "driftless/base/shuffle.h"

namespace driftless::task::arc {
namespace {

constexpr std::string_view kSeparator = "|||";
constexpr std::string_view kHrmSeparator = "_";

std::vector<Pair> apply(const Variant& variant, const std::vector<Pair>& pairs) {
  std::vector<Pair> images;
  for (const Pair& pair : pairs) {
    Pair image{.input = arc::apply(variant, pair.input), .output = std::nullopt};
    if (pair.output) image.output = arc::apply(variant, *pair.output);
    images.push_back(std::move(image));
  }
  return images;
}

/// Both lists of pairs, each sorted, as one text: equal exactly when the images are.
std::string fingerprint(const Puzzle& puzzle) {
  const auto add_grid = [](std::string& text, const Grid& grid) {
    text += static_cast<char>(grid.extent.rows);
    text += static_cast<char>(grid.extent.columns);
    text.append(grid.cells.begin(), grid.cells.end());
  };
  std::vector<std::string> texts;
  for (const auto* pairs : {&puzzle.train, &puzzle.test})
    for (const Pair& pair : *pairs) {
      std::string text = pairs == &puzzle.train ? "a" : "b";
      add_grid(text, pair.input);
      if (pair.output) add_grid(text, *pair.output);
      texts.push_back(std::move(text));
    }
  std::sort(texts.begin(), texts.end());
  std::string joined;
  for (const std::string& text : texts) joined += text;
  return joined;
}

/// "|||t4|||0123456789", with the separator in question.
std::optional<Variant> parse_tail(std::string_view tail, std::string_view separator) {
  const size_t symmetry_at = separator.size() + 1;
  const std::string_view digits = tail.substr(tail.size() - kColorCount);
  const bool has_shape = tail.starts_with(separator) && tail[symmetry_at - 1] == 't' &&
                         tail[symmetry_at] >= '0' && tail[symmetry_at] < '0' + kDihedralCount &&
                         tail.substr(symmetry_at + 1, separator.size()) == separator;
  std::string sorted(digits);
  std::sort(sorted.begin(), sorted.end());
  if (!has_shape || sorted != "0123456789") return std::nullopt;
  Variant variant{.symmetry = dihedral_from_id(tail[symmetry_at] - '0')};
  for (size_t i = 0; i < kColorCount; ++i)
    variant.color_to[i] = static_cast<uint8_t>(digits[i] - '0');
  return variant;
}

}  // namespace

Variant random_variant(Rng& rng) {
  Variant variant;
  shuffle(std::span(variant.color_to).subspan<1>(), rng);
  variant.symmetry = dihedral_from_id(static_cast<int64_t>(rng.below(kDihedralCount)));
  return variant;
}

Grid apply(const Variant& variant, const Grid& grid) {
  Grid image{.extent = image_extent(variant.symmetry, grid.extent),
             .cells = image_cells(variant.symmetry, grid.extent, grid.cells)};
  for (uint8_t& cell : image.cells) cell = variant.color_to[cell];
  return image;
}

Grid undo(const Variant& variant, const Grid& grid) {
  Variant back{.symmetry = inverse(variant.symmetry)};
  for (size_t color = 0; color < kColorCount; ++color)
    back.color_to[variant.color_to[color]] = static_cast<uint8_t>(color);
  return apply(back, grid);
}

Puzzle apply(const Variant& variant, const Puzzle& puzzle) {
  return {.name = variant_name(puzzle.name, variant),
          .train = apply(variant, puzzle.train),
          .test = apply(variant, puzzle.test)};
}

std::string variant_name(std::string_view puzzle, const Variant& variant) {
  std::string name(puzzle);
  name += kSeparator;
  name += 't';
  name += static_cast<char>('0' + static_cast<int>(variant.symmetry));
  name += kSeparator;
  for (const uint8_t color : variant.color_to) name += static_cast<char>('0' + color);
  return name;
}

NamedVariant parse_variant_name(std::string_view name) {
  for (const std::string_view separator : {kSeparator, kHrmSeparator}) {
    const size_t tail = 2 * separator.size() + 2 + kColorCount;
    if (name.size() < tail) continue;
    const size_t split = name.size() - tail;
    if (const auto variant = parse_tail(name.substr(split), separator))
      return {.puzzle = std::string(name.substr(0, split)), .variant = *variant};
  }
  DRIFTLESS_REQUIRE(name.find(kSeparator) == std::string_view::npos, ErrorCode::InvalidArgument,
                    "arc: bad variant name; got '", name.substr(0, 80),
                    "', expected task|||t<0..7>|||<permutation of 0123456789>");
  return {.puzzle = std::string(name), .variant = {}};
}

std::vector<Variant> distinct_variants(const Puzzle& puzzle, int64_t count, Rng& rng) {
  std::vector<Variant> variants;
  std::set<std::string> seen = {fingerprint(puzzle)};
  for (int64_t draw = 0; draw < 5 * count; ++draw) {
    if (static_cast<int64_t>(variants.size()) >= count) break;
    const Variant variant = random_variant(rng);
    if (seen.insert(fingerprint(apply(variant, puzzle))).second) variants.push_back(variant);
  }
  return variants;
}

}  // namespace driftless::task::arc
