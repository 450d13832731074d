// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/canonical.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/task/sudoku/augment.h"

namespace driftless::task::sudoku {
namespace {

using Line = std::array<uint8_t, kMaxSide>;

/// An order of columns and its inverse: new column j shows old column from[j].
struct ColumnOrder {
  Line from{};
  Line to{};
};

std::vector<ColumnOrder> make_column_orders(size_t box) {
  const size_t side = box * box;
  Line columns{};
  std::iota(columns.begin(), columns.end(), uint8_t{0});
  std::vector<ColumnOrder> orders;
  do {
    bool keeps_stacks = true;
    for (size_t j = 0; j < side; ++j)
      keeps_stacks = keeps_stacks && columns[j] / box == columns[j / box * box] / box;
    if (!keeps_stacks) continue;
    ColumnOrder order{.from = columns};
    for (size_t j = 0; j < side; ++j) order.to[columns[j]] = static_cast<uint8_t>(j);
    orders.push_back(order);
  } while (
      std::next_permutation(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(side)));
  return orders;
}

const std::vector<ColumnOrder>& column_orders(int64_t box) {
  static const std::vector<ColumnOrder> of_two = make_column_orders(2);
  static const std::vector<ColumnOrder> of_three = make_column_orders(3);
  return box == 2 ? of_two : of_three;
}

/// Finds the smallest image of one answer and, with it, of its question.
class Minimum {
 public:
  Minimum(const Board& question, const Board& answer)
      : question_(question),
        answer_(answer),
        side_(static_cast<size_t>(answer.side())),
        box_(static_cast<size_t>(answer.box)) {
    smallest_row_.fill(kMaxSide);
  }

  Board find() {
    for (const Symmetry::Axes axes : {Symmetry::Axes::Kept, Symmetry::Axes::Swapped}) {
      axes_ = axes;
      for (size_t first = 0; first < side_; ++first)
        for (size_t i = 0; i < box_; ++i) {
          const size_t second = first / box_ * box_ + i;
          if (second != first) try_rows(first, second);
        }
    }
    return smallest_question_;
  }

 private:
  [[nodiscard]] uint8_t digit(size_t row, size_t column) const {
    return axes_ == Symmetry::Axes::Kept ? answer_.cells[row * side_ + column]
                                         : answer_.cells[column * side_ + row];
  }

  void try_rows(size_t first, size_t second) {
    // link[c]: where the first row has the digit that the second row has in column c. After a
    // reordering of columns that makes the first row 1 2 3 ..., the second row reads to[link] + 1.
    Line column_of{};
    Line link{};
    for (size_t c = 0; c < side_; ++c) column_of[digit(first, c) - 1u] = static_cast<uint8_t>(c);
    for (size_t c = 0; c < side_; ++c) link[c] = column_of[digit(second, c) - 1u];
    for (const ColumnOrder& order : column_orders(answer_.box)) {
      size_t j = 0;
      uint8_t value = 0;
      while (j < side_) {
        value = order.to[link[order.from[j]]];
        if (value != smallest_row_[j]) break;
        ++j;
      }
      if (j < side_ && value > smallest_row_[j]) continue;
      for (; j < side_; ++j) smallest_row_[j] = order.to[link[order.from[j]]];
      try_symmetry(complete(first, second, order));
    }
  }

  /// The symmetry with these two rows on top and the other rows in ascending order.
  [[nodiscard]] Symmetry complete(size_t first, size_t second, const ColumnOrder& order) const {
    Symmetry symmetry{.axes = axes_, .row_from = {}, .column_from = order.from, .digit_to = {}};
    for (size_t j = 0; j < side_; ++j)
      symmetry.digit_to[digit(first, order.from[j])] = static_cast<uint8_t>(j + 1);
    // Rows by (band, row): the top band first with its two fixed rows, then by smallest first
    // digit.
    const auto leader = [&](size_t row) {
      if (row == first) return -2;
      if (row == second) return -1;
      return static_cast<int>(symmetry.digit_to[digit(row, order.from[0])]);
    };
    std::array<int, kMaxSide> band_leader{};
    for (size_t row = 0; row < side_; ++row) {
      int& least = band_leader[row / box_];
      least = row % box_ == 0 ? leader(row) : std::min(least, leader(row));
    }
    std::iota(symmetry.row_from.begin(), symmetry.row_from.end(), uint8_t{0});
    std::sort(symmetry.row_from.begin(),
              symmetry.row_from.begin() + static_cast<std::ptrdiff_t>(side_),
              [&](size_t a, size_t b) {
                return std::pair(band_leader[a / box_], leader(a)) <
                       std::pair(band_leader[b / box_], leader(b));
              });
    return symmetry;
  }

  void try_symmetry(const Symmetry& symmetry) {
    const Board image = apply(symmetry, answer_);
    if (is_found_ && image > smallest_) return;
    const Board question = apply(symmetry, question_);
    if (!is_found_ || image < smallest_ || question < smallest_question_)
      smallest_question_ = question;
    smallest_ = image;
    is_found_ = true;
  }

  const Board& question_;
  const Board& answer_;
  size_t side_;
  size_t box_;
  Symmetry::Axes axes_ = Symmetry::Axes::Kept;
  Line smallest_row_{};  ///< the second row of the smallest image so far, digits from 0
  bool is_found_ = false;
  Board smallest_;
  Board smallest_question_;
};

}  // namespace

Board canonical_form(const Board& question, const Board& answer) {
  DRIFTLESS_REQUIRE(is_answer(question, answer), ErrorCode::InvalidArgument,
                    "sudoku canonical form: the answer does not answer the question; got ",
                    to_line(question), " and ", to_line(answer));
  return Minimum(question, answer).find();
}

}  // namespace driftless::task::sudoku
