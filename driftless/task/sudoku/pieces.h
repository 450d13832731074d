// SPDX-License-Identifier: Apache-2.0
// Constant tables over the kBox x kBox pieces (kBox cells each) of a band, for candidates.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace driftless::task::sudoku {

/// A set of pieces has one bit per piece, row by row; a digit occupies one piece per row and per
/// box, a "choice".
template <size_t kBox>
struct Pieces {
  static constexpr size_t kSide = kBox * kBox;
  static constexpr size_t kSets = 1u << kSide;

  static constexpr uint32_t kPiece = (1u << kBox) - 1;

  /// The first cell of every piece of a band; the first cell of every row of a band.
  static constexpr uint32_t every(size_t step) {
    uint32_t bits = 0;
    for (size_t at = 0; at < kBox * kSide; at += step) bits |= 1u << at;
    return bits;
  }
  static constexpr uint32_t kFirstCells = every(kBox);
  static constexpr uint32_t kFirstColumn = every(kSide);

  /// Index: the cells of one row. Value: which of its pieces are not empty.
  static constexpr std::array<uint8_t, kSets> make_of_row() {
    std::array<uint8_t, kSets> pieces{};
    for (size_t row = 0; row < kSets; ++row)
      for (size_t i = 0; i < kBox; ++i)
        if ((row >> (i * kBox) & kPiece) != 0)
          pieces[row] = static_cast<uint8_t>(pieces[row] | 1u << i);
    return pieces;
  }
  static constexpr std::array<uint8_t, kSets> kOfRow = make_of_row();

  /// Index: a set of pieces of a band. Value: their cells.
  static constexpr std::array<uint32_t, kSets> make_cells_of() {
    std::array<uint32_t, kSets> cells{};
    for (size_t set = 0; set < kSets; ++set)
      for (size_t i = 0; i < kSide; ++i)
        if ((set >> i & 1) != 0) cells[set] |= kPiece << (i * kBox);
    return cells;
  }
  static constexpr std::array<uint32_t, kSets> kCellsOf = make_cells_of();

  struct Choices {
    std::array<uint16_t, kSets> feasible{};  ///< pieces in at least one choice within the set
    std::array<uint16_t, kSets> forced{};    ///< pieces in every choice within the set
  };
  static constexpr Choices make_choices() {
    Choices choices;
    choices.forced.fill(kSets - 1);
    std::array<size_t, kBox> column{};
    for (size_t i = 0; i < kBox; ++i) column[i] = i;
    do {
      size_t choice = 0;
      for (size_t row = 0; row < kBox; ++row) choice |= size_t{1} << (row * kBox + column[row]);
      for (size_t set = 0; set < kSets; ++set) {
        if ((set & choice) != choice) continue;
        choices.feasible[set] = static_cast<uint16_t>(choices.feasible[set] | choice);
        choices.forced[set] = static_cast<uint16_t>(choices.forced[set] & choice);
      }
    } while (std::next_permutation(column.begin(), column.end()));
    return choices;
  }
  static constexpr std::array<uint16_t, kSets> kFeasible = make_choices().feasible;
  static constexpr std::array<uint16_t, kSets> kForced = make_choices().forced;
};

}  // namespace driftless::task::sudoku
