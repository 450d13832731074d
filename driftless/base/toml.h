// SPDX-License-Identifier: Apache-2.0
// TOML from recipes. A header, so that only those who read recipes need toml++.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <toml++/toml.h>

#include "driftless/base/error.h"
#include "driftless/base/quote.h"
#include "driftless/base/text.h"

namespace driftless {

/// The table of `text`; `where` starts every message. Throws BadConfig with the line on malformed
/// text.
inline toml::table parse_toml(std::string_view text, std::string_view where) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(ErrorCode::BadConfig, where, ":", error.source().begin.line, ": ", error.description());
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
