// SPDX-License-Identifier: Apache-2.0
// What each cell may still hold, and the three deductions of the solver: a cell with one digit left
// (naked single), a digit with one cell left in a row, column or box (hidden single), and a digit
// that a box confines to one line or a line to one box (locked candidates).
//
// Layout: for each digit one bit per cell, in kBox words of one band (kBox rows) each:
//   word b, bit r * kSide + c  <->  cell (row b * kBox + r, column c)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

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

  /// Digits run from 0 here. Requires that the cell is open.
  [[nodiscard]] bool allows(size_t cell, size_t digit) const {
    return (where_[digit][band(cell)] & bit(cell)) != 0;
  }
  [[nodiscard]] bool is_open(size_t cell) const { return (open_[band(cell)] & bit(cell)) != 0; }

  void forbid(size_t cell, size_t digit) {
    where_[digit][band(cell)] &= ~bit(cell);
    stale_ |= 1u << digit;
  }

  /// Requires allows(cell, digit).
  void place(size_t cell, size_t digit) {
    const size_t b = band(cell);
    const uint32_t here = bit(cell);
    for (size_t d = 0; d < kSide; ++d) {
      stale_ |= static_cast<uint32_t>((where_[d][b] & here) != 0) << d;
      where_[d][b] &= ~here;
    }
    Mask& mine = where_[digit];
    const Mask& peers = kPeers[cell];
    for (size_t other = 0; other < kBox; ++other) mine[other] &= ~peers[other];
    mine[b] |= here;
    open_[b] &= ~here;
  }

  /// Applies the deductions until none finds anything. False when a cell has no digit left or a
  /// digit no cell.
  bool propagate() {
    while (true) {
      const Progress naked = place_naked_singles();
      if (naked == Progress::Contradiction) return false;
      if (naked == Progress::Placed) continue;
      const uint32_t stale = stale_;
      stale_ = 0;
      for (uint32_t left = stale; left != 0; left &= left - 1)
        if (!place_and_lock(lowest(left))) return false;
      if (stale_ == 0) return true;
    }
  }

  [[nodiscard]] bool is_solved() const { return !is_open_anywhere(open_); }

  /// Where to branch: of the open cells with the fewest digits left, the one whose digits have the
  /// most candidates among its peers; the first row by row on ties. Requires that propagate()
  /// returned true and that the board is not solved.
  [[nodiscard]] size_t branch_cell() const {
    const Mask narrow = narrowest_cells();
    size_t best = 0;
    int most = -1;
    for (size_t b = 0; b < kBox; ++b)
      for (uint32_t left = narrow[b]; left != 0; left &= left - 1) {
        const size_t cell = b * kBandCells + lowest(left);
        const int reach = candidates_seen(cell);
        if (reach > most) {
          most = reach;
          best = cell;
        }
      }
    return best;
  }

 private:
  enum class Progress { None, Placed, Contradiction };

  static constexpr uint32_t kAll = (1u << kBandCells) - 1;
  static constexpr uint32_t kRow = (1u << kSide) - 1;

  static size_t lowest(uint32_t bits) { return static_cast<size_t>(std::countr_zero(bits)); }
  static constexpr size_t band(size_t cell) { return cell / kBandCells; }
  static constexpr uint32_t bit(size_t cell) { return 1u << (cell % kBandCells); }

  static constexpr std::array<Mask, kCells> make_peers() {
    std::array<Mask, kCells> peers{};
    for (size_t a = 0; a < kCells; ++a)
      for (size_t b = 0; b < kCells; ++b) {
        const bool same_row = a / kSide == b / kSide;
        const bool same_column = a % kSide == b % kSide;
        const bool same_box = band(a) == band(b) && a % kSide / kBox == b % kSide / kBox;
        if (same_row || same_column || same_box) peers[a][band(b)] |= bit(b);
      }
    return peers;
  }
  static constexpr std::array<Mask, kCells> kPeers = make_peers();

  /// The rows, then the boxes of one band.
  static constexpr std::array<uint32_t, 2 * kBox> make_units() {
    std::array<uint32_t, 2 * kBox> units{};
    for (size_t i = 0; i < kBox; ++i) {
      units[i] = kRow << (i * kSide);
      for (size_t r = 0; r < kBox; ++r)
        units[kBox + i] |= ((1u << kBox) - 1) << (r * kSide + i * kBox);
    }
    return units;
  }
  static constexpr std::array<uint32_t, 2 * kBox> kUnits = make_units();

  static constexpr uint32_t kPiece = (1u << kBox) - 1;
  /// Index: a kBox x kBox matrix of non-empty pieces, row by row. Value: the pieces that belong to
  /// at least one full choice of one piece per row and column.
  static constexpr std::array<uint16_t, 1u << kSide> make_feasible() {
    std::array<uint16_t, 1u << kSide> feasible{};
    std::array<size_t, kBox> column{};
    for (size_t i = 0; i < kBox; ++i) column[i] = i;
    do {
      uint32_t choice = 0;
      for (size_t row = 0; row < kBox; ++row) choice |= 1u << (row * kBox + column[row]);
      for (uint32_t pieces = 0; pieces < feasible.size(); ++pieces)
        if ((pieces & choice) == choice) feasible[pieces] |= static_cast<uint16_t>(choice);
    } while (std::next_permutation(column.begin(), column.end()));
    return feasible;
  }
  static constexpr std::array<uint16_t, 1u << kSide> kFeasible = make_feasible();

  /// Index: the cells of one row. Value: which of its kBox pieces are not empty.
  static constexpr std::array<uint8_t, 1u << kSide> make_pieces_of_row() {
    std::array<uint8_t, 1u << kSide> pieces{};
    for (uint32_t row = 0; row < pieces.size(); ++row)
      for (size_t i = 0; i < kBox; ++i)
        if ((row >> (i * kBox) & kPiece) != 0)
          pieces[row] = static_cast<uint8_t>(pieces[row] | 1u << i);
    return pieces;
  }
  static constexpr std::array<uint8_t, 1u << kSide> kPiecesOfRow = make_pieces_of_row();

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
      for (uint32_t left = once & ~twice & open_[b]; left != 0; left &= left - 1) {
        const size_t cell = b * kBandCells + lowest(left);
        size_t digit = 0;
        while (digit < kSide && !allows(cell, digit)) ++digit;
        if (digit == kSide) return Progress::Contradiction;
        place(cell, digit);
        progress = Progress::Placed;
      }
    }
    return progress;
  }

  [[nodiscard]] bool is_open_anywhere(const Mask& cells) const {
    uint32_t any = 0;
    for (size_t b = 0; b < kBox; ++b) any |= cells[b] & open_[b];
    return any != 0;
  }

  /// The open cells with the fewest digits left.
  [[nodiscard]] Mask narrowest_cells() const {
    std::array<Mask, kSide + 1> at_least{};  // [n]: cells with n or more digits left
    at_least[0].fill(kAll);
    for (const Mask& digit : where_)
      for (size_t b = 0; b < kBox; ++b)
        for (size_t n = kSide; n > 0; --n) at_least[n][b] |= at_least[n - 1][b] & digit[b];
    for (size_t n = 2; n <= kSide; ++n) {
      Mask exactly = at_least[n];
      uint32_t any = 0;
      for (size_t b = 0; b < kBox; ++b) {
        if (n < kSide) exactly[b] &= ~at_least[n + 1][b];
        any |= exactly[b];
      }
      if (any != 0) return exactly;
    }
    return open_;
  }

  /// How many candidates of the cell's peers are digits that the cell may hold.
  [[nodiscard]] int candidates_seen(size_t cell) const {
    int seen = 0;
    for (size_t digit = 0; digit < kSide; ++digit) {
      if (!allows(cell, digit)) continue;
      for (size_t b = 0; b < kBox; ++b) seen += std::popcount(where_[digit][b] & kPeers[cell][b]);
    }
    return seen;
  }

  /// Hidden singles and locked candidates of one digit.
  bool place_and_lock(size_t digit) {
    const Mask before = where_[digit];
    if (!lock_rows(digit) || !lock_columns(digit)) return false;
    Mask& mine = where_[digit];
    if (mine != before) stale_ |= 1u << digit;
    if (!is_open_anywhere(mine)) return true;
    for (size_t b = 0; b < kBox; ++b)
      for (const uint32_t unit : kUnits) {
        const uint32_t cells = mine[b] & unit;
        if ((cells & (cells - 1)) == 0 && (cells & open_[b]) != 0)
          place(b * kBandCells + lowest(cells), digit);
      }
    return place_in_columns(digit);
  }

  bool place_in_columns(size_t digit) {
    const Mask& mine = where_[digit];
    uint32_t once = 0;
    uint32_t twice = 0;
    uint32_t open = 0;
    for (size_t b = 0; b < kBox; ++b)
      for (size_t r = 0; r < kBox; ++r) {
        const uint32_t row = (mine[b] >> (r * kSide)) & kRow;
        twice |= once & row;
        once |= row;
        open |= row & (open_[b] >> (r * kSide));
      }
    if (once != kRow) return false;
    for (uint32_t left = once & ~twice & open; left != 0; left &= left - 1) {
      size_t cell = lowest(left);
      while (cell < kCells && !allows(cell, digit)) cell += kSide;
      // A placement in an earlier column of the same box may have taken the last cell.
      if (cell >= kCells) return false;
      if (is_open(cell)) place(cell, digit);
    }
    return true;
  }

  /// In a band the digit takes one piece (kBox cells of one row in one box) per row and per box:
  /// pieces that no such choice of non-empty pieces contains are cleared.
  bool lock_rows(size_t digit) {
    for (uint32_t& word : where_[digit]) {
      uint32_t pieces = 0;
      for (size_t r = 0; r < kBox; ++r) {
        const uint32_t row = word >> (r * kSide) & kRow;
        pieces |= static_cast<uint32_t>(kPiecesOfRow[row]) << (r * kBox);
      }
      const uint32_t kept = kFeasible[pieces];
      if (kept == 0) return false;
      if (kept == pieces) continue;
      for (size_t i = 0; i < kSide; ++i)
        if ((kept >> i & 1) == 0) word &= ~(kPiece << (i * kBox));
    }
    return true;
  }

  /// The same for columns: a piece is kBox cells of one column in one box.
  bool lock_columns(size_t digit) {
    Mask& mine = where_[digit];
    Mask filled{};  // bit c: the piece of this band in column c is not empty
    for (size_t b = 0; b < kBox; ++b) {
      for (size_t r = 0; r < kBox; ++r) filled[b] |= mine[b] >> (r * kSide);
      filled[b] &= kRow;
    }
    for (size_t stack = 0; stack < kBox; ++stack) {
      uint32_t pieces = 0;
      for (size_t b = 0; b < kBox; ++b)
        pieces |= (filled[b] >> (stack * kBox) & kPiece) << (b * kBox);
      const uint32_t kept = kFeasible[pieces];
      if (kept == 0) return false;
      if (kept == pieces) continue;
      for (size_t b = 0; b < kBox; ++b) {
        const uint32_t gone = (pieces & ~kept) >> (b * kBox) & kPiece;
        for (size_t r = 0; r < kBox; ++r) mine[b] &= ~(gone << (r * kSide + stack * kBox));
      }
    }
    return true;
  }

  std::array<Mask, kSide> where_;
  Mask open_;
  uint32_t stale_ = (1u << kSide) - 1;  ///< digits whose cells changed since the last hidden pass
};

}  // namespace driftless::task::sudoku
