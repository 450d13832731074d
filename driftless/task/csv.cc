// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/csv.h"

#include <algorithm>
#include <array>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/text.h"

namespace driftless::task {
namespace {

struct Synonym {
  std::string_view name;
  std::string_view ours;
};
constexpr std::array<Synonym, 4> kSynonyms = {{{"puzzle", "question"},
                                               {"quizzes", "question"},
                                               {"solution", "answer"},
                                               {"solutions", "answer"}}};

/// The names of the columns, in our words.
std::vector<std::string_view> columns_of(std::string_view header) {
  std::vector<std::string_view> columns = split(header, ',');
  for (std::string_view& column : columns)
    for (const Synonym& synonym : kSynonyms)
      if (column == synonym.name) column = synonym.ours;
  return columns;
}

}  // namespace

bool has_header(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text.substr(0, text.find('\n')));
  if (lines.empty()) return false;
  const std::vector<std::string_view> columns = columns_of(lines.front());
  return std::find(columns.begin(), columns.end(), "question") != columns.end();
}

std::string_view first_question(std::string_view text) {
  const size_t end = text.find('\n');
  const std::vector<std::string_view> lines = lines_of(text.substr(0, text.find('\n', end + 1)));
  if (!has_header(text)) return lines.empty() ? "" : lines.front();
  if (end == std::string_view::npos || lines.size() < 2) return "";
  const std::vector<std::string_view> columns = columns_of(lines[0]);
  const auto at = std::find(columns.begin(), columns.end(), "question") - columns.begin();
  const std::vector<std::string_view> fields = split(lines[1], ',');
  return at < std::ssize(fields) ? fields[static_cast<size_t>(at)] : "";
}

CsvTable::CsvTable(std::string_view text, std::string where,
                   std::span<const std::string_view> allowed_columns)
    : where_(std::move(where)), lines_(lines_of(text)) {
  DRIFTLESS_REQUIRE(!lines_.empty(), ErrorCode::BadFile, where_,
                    ": no header; got an empty file, expected columns ",
                    join(allowed_columns, ", "));
  header_ = columns_of(lines_.front());
  for (size_t i = 0; i < header_.size(); ++i) {
    const std::string_view name = header_[i];
    DRIFTLESS_REQUIRE(
        std::find(allowed_columns.begin(), allowed_columns.end(), name) != allowed_columns.end(),
        ErrorCode::BadFile, place(-1), ": unknown column; got '", name.substr(0, 40),
        "', expected one of ", join(allowed_columns, ", "));
    DRIFTLESS_REQUIRE(std::find(header_.begin(), header_.begin() + static_cast<std::ptrdiff_t>(i),
                                name) == header_.begin() + static_cast<std::ptrdiff_t>(i),
                      ErrorCode::BadFile, place(-1), ": column '", name, "' appears twice");
  }
  for (int64_t i = 0; i < row_count(); ++i) {
    const std::string_view line = lines_[static_cast<size_t>(i + 1)];
    const int64_t fields = std::count(line.begin(), line.end(), ',') + 1;
    DRIFTLESS_REQUIRE(fields == static_cast<int64_t>(header_.size()), ErrorCode::BadFile, place(i),
                      ": wrong number of fields; got ", fields, ", expected ", header_.size());
  }
}

bool CsvTable::has(std::string_view column) const {
  return std::find(header_.begin(), header_.end(), column) != header_.end();
}

std::vector<std::string_view> CsvTable::row(int64_t index,
                                            std::span<const std::string_view> columns) const {
  const std::vector<std::string_view> fields = split(lines_[static_cast<size_t>(index + 1)], ',');
  std::vector<std::string_view> picked;
  for (const std::string_view column : columns) {
    const auto at = std::find(header_.begin(), header_.end(), column);
    DRIFTLESS_REQUIRE(at != header_.end(), ErrorCode::BadFile, place(-1), ": no column '", column,
                      "'; got ", join(header_, ", "));
    picked.push_back(fields[static_cast<size_t>(at - header_.begin())]);
  }
  return picked;
}

std::string CsvTable::place(int64_t row) const { return where_ + ":" + std::to_string(row + 2); }

int64_t parse_count(std::string_view field, std::string_view column, const std::string& place) {
  const auto value = parse_int(field);
  DRIFTLESS_REQUIRE(value && *value >= 0, ErrorCode::BadFile, place, ": bad ", column, "; got '",
                    field.substr(0, 40), "', expected an integer of 0 or more");
  return *value;
}

}  // namespace driftless::task
