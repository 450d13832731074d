// SPDX-License-Identifier: Apache-2.0
// Plain CSV as the puzzle sets use it: a header line, then rows of as many fields, no quotes. The
// columns that hold boards have several names: puzzle or quizzes are question, solution or
// solutions are answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::task {

/// Whether the first line is a header that names the column of questions.
bool has_header(std::string_view text);

/// The question of the first row, or the first line of a text without header; empty where there is
/// none.
std::string_view first_question(std::string_view text);

/// A view of the text, which must outlive it.
class CsvTable {
 public:
  /// `where` names the file in messages. Throws BadFile when the header is missing, repeats a
  /// column or names one outside `allowed_columns`, or when a row has another number of fields.
  CsvTable(std::string_view text, std::string where,
           std::span<const std::string_view> allowed_columns);

  [[nodiscard]] int64_t row_count() const { return static_cast<int64_t>(lines_.size()) - 1; }
  [[nodiscard]] bool has(std::string_view column) const;
  /// The fields of one row in the order of `columns`. Throws BadFile when a column is absent.
  [[nodiscard]] std::vector<std::string_view> row(int64_t index,
                                                  std::span<const std::string_view> columns) const;
  /// "file.csv:12", counting the header as line 1.
  [[nodiscard]] std::string place(int64_t row) const;

 private:
  std::string where_;
  std::vector<std::string_view> lines_;
  std::vector<std::string_view> header_;
};

/// The field as a count of 0 or more. Throws BadFile.
int64_t parse_count(std::string_view field, std::string_view column, const std::string& place);

}  // namespace driftless::task
