// SPDX-License-Identifier: Apache-2.0
// TOML from recipes. A header, so that only those who read recipes need toml++.
//
// toml++ takes for granted, in places where malformed text can prove it wrong, that a key starts
// with a letter or a value is there. Its assertions are checks here, in every build, that throw.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless {

/// What toml++ took for granted is not so.
struct TomlSurprise {};
[[noreturn]] inline void throw_toml_surprise() { throw TomlSurprise(); }

}  // namespace driftless

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : ::driftless::throw_toml_surprise())
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace driftless {

/// Recipes have a few kilobytes. toml++ takes time with the square of the number of tables.
inline constexpr size_t kMaxTomlBytes = size_t{1} << 18;

/// Tables inside each other take stack when they go; every dot of a key opens one, and no key goes
/// beyond its line.
inline constexpr int64_t kMaxTomlDots = 64;

/// The end of the one-line string that starts at `start`: behind its closing quote, or its line's
/// end.
inline size_t end_of_toml_string(std::string_view text, size_t start) {
  const char mark = text[start];
  size_t at = start + 1;
  while (at < text.size() && text[at] != mark && text[at] != '\n')
    at += size_t{text[at] == '\\' && mark == '"' ? 2U : 1U};
  return std::min(at + 1, text.size());
}

/// toml++ declares it impossible that a letter from U+00A1 to U+0499 stands where a space may, so
/// such letters are for comments and strings of one line. Throws BadConfig elsewhere.
inline void require_ascii_toml_keys(std::string_view text, std::string_view where) {
  const auto is_foreign = [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; };
  const bool has_long_strings =
      text.find("\"\"\"") != std::string_view::npos || text.find("'''") != std::string_view::npos;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (at < text.size()) {
    DRIFTLESS_REQUIRE(
        !is_foreign(text[at]), ErrorCode::BadConfig, where, ":",
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'),
        ": got a letter outside ASCII; expected one only in comments and one-line strings");
    if (!has_long_strings && text[at] == '#')
      at = std::min(text.find('\n', at), text.size());
    else if (!has_long_strings && (text[at] == '"' || text[at] == '\''))
      at = end_of_toml_string(text, at);
    else
      ++at;
  }
}

/// Throws BadConfig on text that toml++ is not to see.
inline void require_modest_toml(std::string_view text, std::string_view where) {
  DRIFTLESS_REQUIRE(text.size() <= kMaxTomlBytes, ErrorCode::BadConfig, where, "; got ",
                    text.size(), " bytes, expected at most ", kMaxTomlBytes);
  int64_t line = 1;
  int64_t dots = 0;
  for (const char letter : text) {
    if (letter == '\n') ++line;
    dots = letter == '\n' ? 0 : dots + (letter == '.' ? 1 : 0);
    DRIFTLESS_REQUIRE(dots <= kMaxTomlDots, ErrorCode::BadConfig, where, ":", line,
                      ": got more than ", kMaxTomlDots, " dots in a line; spread it over several");
  }
}

inline bool surprises_toml(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) {
  } catch (const TomlSurprise&) {
    return true;
  }
  return false;
}

/// The line at which toml++ is surprised: the text up to its end is the shortest that does so.
inline int64_t surprising_line(std::string_view text) {
  size_t calm = 0;
  size_t end = text.size();
  while (calm < end) {
    const size_t middle = calm + (end - calm) / 2;
    if (surprises_toml(text.substr(0, middle)))
      end = middle;
    else
      calm = middle + 1;
  }
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end) - 1, '\n');
}

/// The table of `text`; `where` starts every message. Throws BadConfig with the line on malformed
/// text.
inline toml::table parse_toml(std::string_view text, std::string_view where) {
  require_modest_toml(text, where);
  require_ascii_toml_keys(text, where);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(ErrorCode::BadConfig, where, ":", error.source().begin.line, ": ", error.description());
  } catch (const TomlSurprise&) {
    fail(ErrorCode::BadConfig, where, ":", surprising_line(text),
         ": malformed TOML; expected a name in every key and a value after '=', '[' and ','");
  }
}

/// "recipe.toml:12: ".
inline std::string toml_place(std::string_view where, const toml::node& node) {
  return std::string(where) + ":" + std::to_string(node.source().begin.line) + ": ";
}

/// Throws BadConfig, starting with `place`, with the nearest of the known names.
inline void require_known_key(std::string_view name, std::span<const std::string_view> known,
                              std::string_view place) {
  DRIFTLESS_REQUIRE(std::find(known.begin(), known.end(), name) != known.end(),
                    ErrorCode::BadConfig, place, "unknown key ", quote(name),
                    did_you_mean(name, known));
}

/// One value as the type that its key wants. `where` ("recipe.toml:12: train.batch") starts the
/// message of the BadConfig that all throw on another type.
class TomlValue {
 public:
  TomlValue(const toml::node& node, std::string where) : node_(node), where_(std::move(where)) {}

  [[nodiscard]] const std::string& where() const { return where_; }

  [[nodiscard]] std::string text() const {
    require(node_.is_string(), "a text");
    return node_.ref<std::string>();
  }
  [[nodiscard]] bool flag() const {
    require(node_.is_boolean(), "true or false");
    return node_.ref<bool>();
  }
  /// Also throws outside the limits.
  template <class Limit>
  [[nodiscard]] int64_t integer(Limit low, Limit high) const {
    require(node_.is_integer(), "a whole number");
    return within(node_.ref<int64_t>(), low, high);
  }
  [[nodiscard]] double number(double low, double high) const {
    require(node_.is_number(), "a number");
    return within(*node_.value<double>(), low, high);
  }

 private:
  void require(bool is_right, const char* expected) const {
    DRIFTLESS_REQUIRE(is_right, ErrorCode::BadConfig, where_, "; expected ", expected);
  }
  template <class Number, class Limit>
  [[nodiscard]] Number within(Number value, Limit low, Limit high) const {
    DRIFTLESS_REQUIRE(static_cast<Limit>(value) >= low && static_cast<Limit>(value) <= high,
                      ErrorCode::BadConfig, where_, "; got ", value, ", expected ", low, " to ",
                      high);
    return value;
  }

  const toml::node& node_;
  std::string where_;
};

}  // namespace driftless
