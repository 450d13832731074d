// SPDX-License-Identifier: Apache-2.0
// The texts of an enumeration, in one array: what files and the command line call each value.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless {

/// An enumerator and its text. Rows of a larger table serve as well: they need `value` and `name`.
template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// The row of `value`.
template <class Rows, class Enum>
constexpr const auto& row_of(const Rows& rows, Enum value) {
  for (const auto& row : rows)
    if (row.value == value) return row;
  fail(ErrorCode::Internal, "an enumerator has no row; got ", static_cast<int>(value));
}

template <class Rows, class Enum>
constexpr std::string_view enum_name(const Rows& rows, Enum value) {
  return row_of(rows, value).name;
}

/// The enumerator called `text`. Throws `code` naming `where` and the nearest text.
template <class Rows>
auto parse_enum(const Rows& rows, std::string_view text, std::string_view where,
                ErrorCode code = ErrorCode::BadConfig) {
  std::vector<std::string_view> known;
  for (const auto& row : rows) {
    if (row.name == text) return row.value;
    known.push_back(row.name);
  }
  fail(code, where, ": unknown value; got ", quote(text), ", expected one of ", join(known, ", "),
       did_you_mean(text, known));
}

}  // namespace driftless
