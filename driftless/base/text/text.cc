// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

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

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool is_near(std::string_view a, std::string_view b, int64_t distance) {
  constexpr size_t kLeastStart = 3;
  const bool is_start =
      std::min(a.size(), b.size()) >= kLeastStart && (a.starts_with(b) || b.starts_with(a));
  return is_start || distance <= std::max<int64_t>(
                                     1, static_cast<int64_t>(std::max(a.size(), b.size()) + 1) / 3);
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

std::optional<std::string_view> nearest_word(std::string_view word,
                                             std::span<const std::string_view> candidates) {
  // The distance costs |a| * |b|, and the word may come from a hostile file.
  constexpr size_t kMaxWord = 256;
  const std::string asked = lower_case(word.substr(0, kMaxWord));
  std::optional<std::string_view> nearest;
  int64_t least = 0;
  for (const std::string_view candidate : candidates) {
    const std::string offered = lower_case(candidate);
    const int64_t distance = edit_distance(asked, offered);
    if (!is_near(asked, offered, distance) || (nearest && distance >= least)) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto nearest = nearest_word(word, candidates);
  return nearest ? "; did you mean '" + std::string(*nearest) + "'?" : "";
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
