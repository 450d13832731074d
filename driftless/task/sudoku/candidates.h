// SPDX-License-Identifier: Apache-2.0
// What each cell may still hold, and the three deductions of the solver: a cell with one digit left
// (naked single), a digit with one cell left in a row, column or box (hidden single), and a digit
// that a box confines to one line or a line to one box (locked candidates).
//
// Layout: for each digit one bit per cell, in kBox words of one band (kBox rows) each:
//   word b, bit r * kSide + c  <->  cell (row b * kBox + r, column c)
// A piece is what a box and a row (or a box and a column) share: kBox cells.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "driftless/task/sudoku/pieces.h"

namespace driftless::task::sudoku {

template <size_t kBox>
class Candidates {
 public:
  static constexpr size_t kSide = kBox * kBox;
  static constexpr size_t kCells = kSide * kSide;
  static constexpr size_t kBandCells = kBox * kSide;
  using Mask = std::array<uint32_t, kBox>;

  Candidates() {
    open_.fill(kAll);
    where_.fill(open_);
  }

  /// Digits run from 0 here.
  [[nodiscard]] bool allows(size_t cell, size_t digit) const {
    return (where_[digit][cell / kBandCells] & bit(cell)) != 0;
  }

  void forbid(size_t cell, size_t digit) {
    where_[digit][cell / kBandCells] &= ~bit(cell);
    stale_ |= 1u << digit;
  }

  /// Requires allows(cell, digit).
  void place(size_t cell, size_t digit) { place_all(cell / kBandCells, bit(cell), digit); }

  /// Applies the deductions until none finds anything. False when a cell has no digit left or a
  /// digit no cell.
  bool propagate() {
    while (true) {
      const Progress naked = place_naked_singles();
      if (naked == Progress::Contradiction) return false;
      if (naked == Progress::Placed) continue;
      const uint32_t stale = stale_;
      stale_ = 0;
      for (uint32_t left = stale; left != 0; left &= left - 1) {
        const size_t digit = lowest(left);
        if (!work_on_rows(digit) || !work_on_columns(digit)) return false;
      }
      if (stale_ == 0) return true;
    }
  }

  [[nodiscard]] bool is_solved() const {
    return std::all_of(open_.begin(), open_.end(), [](uint32_t word) { return word == 0; });
  }

  /// Where to branch: of the open cells with the fewest digits left, the one whose digits have the
  /// most candidates among its peers; the first row by row on ties. Requires that propagate()
  /// returned true and that the board is not solved.
  [[nodiscard]] size_t branch_cell() const {
    const Mask narrow = narrowest_cells();
    size_t best = 0;
    uint32_t most = 0;
    for (size_t b = 0; b < kBox; ++b)
      for (uint32_t left = narrow[b]; left != 0; left &= left - 1) {
        const size_t cell = b * kBandCells + lowest(left);
        const uint32_t seen = candidates_seen(cell);
        if (seen > most) {
          most = seen;
          best = cell;
        }
      }
    return best;
  }

 private:
  enum class Progress { None, Placed, Contradiction };
  using Table = Pieces<kBox>;

  static constexpr uint32_t kAll = (1u << kBandCells) - 1;
  static constexpr uint32_t kRow = (1u << kSide) - 1;

  static size_t lowest(uint32_t bits) { return static_cast<size_t>(std::countr_zero(bits)); }
  static constexpr uint32_t bit(size_t cell) { return 1u << (cell % kBandCells); }

  /// The cells that share a row, column or box with a cell, without itself.
  static constexpr std::array<Mask, kCells> make_peers() {
    std::array<Mask, kCells> peers{};
    for (size_t a = 0; a < kCells; ++a)
      for (size_t b = 0; b < kCells; ++b) {
        const bool same_row = a / kSide == b / kSide;
        const bool same_column = a % kSide == b % kSide;
        const bool same_box =
            a / kBandCells == b / kBandCells && a % kSide / kBox == b % kSide / kBox;
        if (a != b && (same_row || same_column || same_box)) peers[a][b / kBandCells] |= bit(b);
      }
    return peers;
  }
  static constexpr std::array<Mask, kCells> kPeers = make_peers();

  /// Places the digit in open cells of one band that allow it. False when two of them are peers.
  bool place_all(size_t band, uint32_t cells, size_t digit) {
    for (size_t d = 0; d < kSide; ++d) {
      stale_ |= static_cast<uint32_t>((where_[d][band] & cells) != 0) << d;
      where_[d][band] &= ~cells;
    }
    open_[band] &= ~cells;
    Mask& mine = where_[digit];
    mine[band] |= cells;
    for (uint32_t left = cells; left != 0; left &= left - 1) {
      const Mask& peers = kPeers[band * kBandCells + lowest(left)];
      for (size_t b = 0; b < kBox; ++b) mine[b] &= ~peers[b];
    }
    return (mine[band] & cells) == cells;
  }

  Progress place_naked_singles() {
    Progress progress = Progress::None;
    for (size_t b = 0; b < kBox; ++b) {
      uint32_t once = 0;
      uint32_t twice = 0;
      for (size_t d = 0; d < kSide; ++d) {
        twice |= once & where_[d][b];
        once |= where_[d][b];
      }
      if (once != kAll) return Progress::Contradiction;
      const uint32_t singles = once & ~twice & open_[b];
      if (singles == 0) continue;
      progress = Progress::Placed;
      for (size_t d = 0; d < kSide; ++d) {
        const uint32_t cells = singles & where_[d][b];
        if (cells != 0 && !place_all(b, cells, d)) return Progress::Contradiction;
      }
    }
    return progress;
  }

  /// In a band the digit takes one piece per row and per box. Pieces that no such choice of
  /// non-empty pieces contains are cleared (locked candidates); a piece that every choice contains
  /// and that has one cell left gets the digit (hidden single of its row or box).
  bool work_on_rows(size_t digit) {
    Mask& mine = where_[digit];
    for (size_t b = 0; b < kBox; ++b) {
      uint32_t pieces = 0;
      for (size_t r = 0; r < kBox; ++r)
        pieces |= uint32_t{Table::kOfRow[mine[b] >> (r * kSide) & kRow]} << (r * kBox);
      const uint32_t kept = Table::kFeasible[pieces];
      if (kept == 0) return false;
      if (kept != pieces) {
        mine[b] &= Table::kCellsOf[kept];
        stale_ |= 1u << digit;
      }
      const uint32_t forced = mine[b] & Table::kCellsOf[Table::kForced[kept]];
      uint32_t once = 0;
      uint32_t twice = 0;
      for (size_t i = 0; i < kBox; ++i) {
        const uint32_t cell = forced >> i & Table::kFirstCells;
        twice |= once & cell;
        once |= cell;
      }
      const uint32_t singles = (once & ~twice) * Table::kPiece & forced & open_[b];
      if (singles != 0 && !place_all(b, singles, digit)) return false;
    }
    return true;
  }

  /// The same for stacks and columns, where the pieces of a stack lie in all bands.
  bool work_on_columns(size_t digit) {
    Mask& mine = where_[digit];
    Mask filled{};  // bit c: the piece of this band in column c is not empty
    for (size_t b = 0; b < kBox; ++b) {
      for (size_t r = 0; r < kBox; ++r) filled[b] |= mine[b] >> (r * kSide);
      filled[b] &= kRow;
    }
    Mask forced{};  // bit c: the digit must lie in the piece of this band in column c
    for (size_t stack = 0; stack < kBox; ++stack) {
      uint32_t pieces = 0;
      for (size_t b = 0; b < kBox; ++b)
        pieces |= (filled[b] >> (stack * kBox) & Table::kPiece) << (b * kBox);
      const uint32_t kept = Table::kFeasible[pieces];
      if (kept == 0) return false;
      for (size_t b = 0; b < kBox; ++b) {
        const uint32_t gone = (pieces & ~kept) >> (b * kBox) & Table::kPiece;
        if (gone != 0) {
          mine[b] &= ~(gone * Table::kFirstColumn << (stack * kBox));
          stale_ |= 1u << digit;
        }
        forced[b] |= (uint32_t{Table::kForced[kept]} >> (b * kBox) & Table::kPiece)
                     << (stack * kBox);
      }
    }
    for (size_t b = 0; b < kBox; ++b) {
      uint32_t once = 0;
      uint32_t twice = 0;
      for (size_t r = 0; r < kBox; ++r) {
        const uint32_t row = mine[b] >> (r * kSide) & forced[b];
        twice |= once & row;
        once |= row;
      }
      const uint32_t singles = (once & ~twice) * Table::kFirstColumn & mine[b] & open_[b];
      if (singles != 0 && !place_all(b, singles, digit)) return false;
    }
    return true;
  }

  /// The open cells with the fewest digits left.
  [[nodiscard]] Mask narrowest_cells() const {
    std::array<Mask, kSide + 2> at_least{};  // [n]: cells with n or more digits left
    at_least[0].fill(kAll);
    for (const Mask& digit : where_)
      for (size_t n = kSide; n > 0; --n)
        for (size_t b = 0; b < kBox; ++b) at_least[n][b] |= at_least[n - 1][b] & digit[b];
    for (size_t n = 2; n <= kSide; ++n) {
      Mask exactly{};
      uint32_t any = 0;
      for (size_t b = 0; b < kBox; ++b) {
        exactly[b] = at_least[n][b] & ~at_least[n + 1][b];
        any |= exactly[b];
      }
      if (any != 0) return exactly;
    }
    return open_;
  }

  /// How many candidates of the cell's peers are digits that the cell may hold.
  [[nodiscard]] uint32_t candidates_seen(size_t cell) const {
    uint32_t seen = 0;
    for (size_t digit = 0; digit < kSide; ++digit) {
      if (!allows(cell, digit)) continue;
      for (size_t b = 0; b < kBox; ++b) seen += count_bits(where_[digit][b] & kPeers[cell][b]);
    }
    return seen;
  }

  /// std::popcount is a library call on processors that are not known to have the instruction, and
  /// took a seventh of the solver's time.
  static uint32_t count_bits(uint32_t x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
  }

  std::array<Mask, kSide> where_;
  Mask open_;
  uint32_t stale_ = (1u << kSide) - 1;  ///< digits whose cells changed since work_on_rows/columns
};

}  // namespace driftless::task::sudoku
