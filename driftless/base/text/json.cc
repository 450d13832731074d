// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/json.h"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/text/quote.h"

namespace driftless {
namespace {

using Json = nlohmann::json;

/// Builds the value as its parts are read, in one pass. (The library's own filter searches a whole
/// object each time that a part of it ends.)
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view where, ErrorCode code) : where_(where), code_(code) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }  // not in JSON
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [member, is_new] = open_.back()->emplace(std::move(name), nullptr);
    DRIFTLESS_REQUIRE(is_new, code_, where_, ": key ", quote(member.key()),
                      " appears twice in one object");
    member_ = &*member;
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    fail(code_, where_, ": not valid JSON; got ", quote(error.what()));
  }

 private:
  /// Where the next value goes. What is open does not move: only the innermost of it grows.
  Json& place() {
    if (open_.empty()) return root_;
    return open_.back()->is_object() ? *member_ : open_.back()->emplace_back(nullptr);
  }
  bool add(Json value) {
    place() = std::move(value);
    return true;
  }
  bool open(Json empty) {
    DRIFTLESS_REQUIRE(std::ssize(open_) < kMaxJsonDepth, code_, where_,
                      ": JSON nests too deeply; expected at most ", kMaxJsonDepth, " levels");
    Json& value = place();
    value = std::move(empty);
    open_.push_back(&value);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view where_;
  ErrorCode code_;
  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // of the innermost object
};

}  // namespace

Json parse_json(std::string_view text, std::string_view where, ErrorCode code) {
  Builder builder(where, code);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace driftless
