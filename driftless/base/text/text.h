// SPDX-License-Identifier: Apache-2.0
// Strict parsing of short texts, and the nearest valid word for error messages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftless {

/// Splits at every separator; "a,,b" has three parts, "" has one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The whole text as a decimal integer, or nothing.
std::optional<int64_t> parse_int(std::string_view text);

/// The whole text as a finite decimal number, or nothing.
std::optional<double> parse_number(std::string_view text);

/// Insertions, deletions, substitutions and neighbor swaps that turn a into b.
int64_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the least edit distance, blind to case; the first on ties. Nothing where none
/// is near: more than a third of the longer word differs, and neither begins with the other.
std::optional<std::string_view> nearest_word(std::string_view word,
                                             std::span<const std::string_view> candidates);

/// "; did you mean 'floor'?" to end a message with, or "" where no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// "floor, ceil, even": for messages that list what would have been accepted.
std::string join(std::span<const std::string_view> words, std::string_view separator);

}  // namespace driftless
