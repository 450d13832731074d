// SPDX-License-Identifier: Apache-2.0
// The YAML that training scripts write, without a library: one key or list item a line, by
// indentation, with plain or quoted values. Whatever else YAML has is refused, never guessed.
#include "driftless/store/torch/plain_yaml.h"

#include <string>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::store {
namespace {

constexpr size_t kMaxTextBytes = 1 << 20;
constexpr size_t kMaxDepth = 32;
constexpr std::string_view kSpecial = "&*!|>%@`{}[],\"'#?-:=<";  // what no plain value begins with

/// A mapping or list that is open, and what its items are called.
struct Level {
  size_t indent = 0;
  std::string path;
  bool is_list = false;
  int64_t items = 0;
};

std::string joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "null" || text == "Null" || text == "NULL" || text == "~";
}

bool is_item(std::string_view text) { return text == "-" || text.starts_with("- "); }

/// Where the colon is that ends a key, or npos.
size_t key_end(std::string_view text) {
  const size_t colon = text.find(": ");
  if (colon != std::string_view::npos) return colon;
  return text.ends_with(':') ? text.size() - 1 : std::string_view::npos;
}

class PlainYaml {
 public:
  explicit PlainYaml(std::string_view where) : where_(where) {}

  void add_line(std::string_view line) {
    ++number_;
    const size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos || line[indent] == '#') return;
    if (number_ == 1 && line == "---") return;
    for (const char c : line) require(c >= ' ' && c <= '~', line);
    add(trimmed(line), indent, line);
  }

  FlatConfig take() {
    end_key();
    return std::move(flat_);
  }

 private:
  void require(bool is_plain, std::string_view line) const {
    DRIFTLESS_REQUIRE(is_plain, ErrorCode::Unsupported, where_, ":", number_,
                      ": more than plain YAML; got ", quote(line),
                      ", expected 'key: value' or '- value', which this build reads");
  }

  /// One item, which may begin behind the dash of another.
  void add(std::string_view text, size_t indent, std::string_view line) {
    open(indent, is_item(text), line);
    Level& level = levels_.back();
    if (level.is_list) {
      key_ = joined(level.path, std::to_string(level.items++));
      key_indent_ = indent;
      is_open_ = true;
      const size_t start = text.find_first_not_of(' ', 1);
      if (start == std::string_view::npos) return;
      const std::string_view rest = text.substr(start);
      if (is_item(rest) || key_end(rest) != std::string_view::npos)
        return add(rest, indent + start, line);
      return set(rest, line);
    }
    const size_t end = key_end(text);
    require(end != std::string_view::npos && end > 0, line);
    const std::string_view key = text.substr(0, end);
    require(kSpecial.find(key.front()) == std::string_view::npos &&
                key.find_first_of("\"'#{}[]&*!|>%@`,?: ") == std::string_view::npos &&
                !is_null(key),
            line);
    key_ = joined(level.path, key);
    key_indent_ = indent;
    is_open_ = true;
    const std::string_view value = trimmed(text.substr(end + 1));
    if (!value.empty()) set(value, line);
  }

  /// Makes the level of a line the last one.
  void open(size_t indent, bool is_list, std::string_view line) {
    const bool is_below =
        is_open_ && (levels_.empty() || indent > key_indent_ ||
                     (is_list && !levels_.back().is_list && indent == key_indent_));
    if (levels_.empty() || is_below) {
      require(levels_.size() < kMaxDepth, line);
      levels_.push_back({indent, std::exchange(key_, {}), is_list});
      is_open_ = false;
      return;
    }
    end_key();
    while (!levels_.empty() &&
           (levels_.back().indent > indent ||
            (levels_.back().indent == indent && levels_.back().is_list && !is_list)))
      levels_.pop_back();
    require(
        !levels_.empty() && levels_.back().indent == indent && levels_.back().is_list == is_list,
        line);
  }

  void set(std::string_view value, std::string_view line) {
    is_open_ = false;
    if (value == "[]" || value == "{}") return;
    if (value.front() == '\'' || value.front() == '"') {
      require(value.size() >= 2 && value.back() == value.front(), line);
      const std::string_view inner = value.substr(1, value.size() - 2);
      require(inner.find_first_of("\\'\"") == std::string_view::npos, line);
      return keep(inner);
    }
    const bool is_number = value.size() > 1 && value[0] == '-' && value[1] != ' ';
    require(is_number || kSpecial.find(value.front()) == std::string_view::npos, line);
    require(value.find(" #") == std::string_view::npos &&
                value.find(": ") == std::string_view::npos && !value.ends_with(':'),
            line);
    keep(is_null(value) ? std::string_view() : value);
  }

  /// A key that nothing followed is null.
  void end_key() {
    if (is_open_) keep("");
    is_open_ = false;
  }

  void keep(std::string_view value) {
    DRIFTLESS_REQUIRE(flat_.emplace(key_, value).second, ErrorCode::BadFile, where_, ": key ",
                      quote(key_), " appears twice");
  }

  std::string_view where_;
  std::vector<Level> levels_;
  FlatConfig flat_;
  std::string key_;        // of the last item
  size_t key_indent_ = 0;  // of its line
  bool is_open_ = false;   // whether its value may follow in lines of their own
  int64_t number_ = 0;
};

}  // namespace

FlatConfig parse_plain_yaml(std::string_view text, std::string_view where) {
  DRIFTLESS_REQUIRE(text.size() <= kMaxTextBytes, ErrorCode::BadFile, where,
                    ": too large for a configuration; got ", text.size(), " bytes");
  PlainYaml parser(where);
  for (const std::string_view line : split(text, '\n')) parser.add_line(line);
  return parser.take();
}

}  // namespace driftless::store
