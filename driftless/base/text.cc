// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless {
namespace {

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<int64_t> parse_int(std::string_view text) { return parse_whole<int64_t>(text); }

std::optional<double> parse_number(std::string_view text) {
  const auto value = parse_whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

int64_t edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int64_t> cost((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> int64_t& { return cost[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = static_cast<int64_t>(i + j);
        continue;
      }
      const int64_t substitution = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  DRIFTLESS_ASSERT(!candidates.empty());
  // The distance costs |a| * |b|, and the word may come from a hostile file.
  constexpr size_t kMaxWord = 256;
  word = word.substr(0, kMaxWord);
  return *std::min_element(candidates.begin(), candidates.end(),
                           [word](std::string_view a, std::string_view b) {
                             return edit_distance(word, a) < edit_distance(word, b);
                           });
}

std::string join(std::span<const std::string_view> words, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += separator;
    joined += words[i];
  }
  return joined;
}

}  // namespace driftless
