// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/json.h"

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/quote.h"

namespace driftless {

nlohmann::json parse_json(std::string_view text, std::string_view where, ErrorCode code) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int depth, Event event, nlohmann::json& value) {
    DRIFTLESS_REQUIRE(depth <= kMaxJsonDepth, code, where,
                      ": JSON nests too deeply; expected at most ", kMaxJsonDepth, " levels");
    if (event == Event::object_start) open_objects.emplace_back();
    if (event == Event::object_end) open_objects.pop_back();
    if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      DRIFTLESS_REQUIRE(open_objects.back().insert(key).second, code, where, ": key ", quote(key),
                        " appears twice in one object");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), watch);
  } catch (const nlohmann::json::exception& error) {
    fail(code, where, ": not valid JSON; got ", quote(error.what()));
  }
}

}  // namespace driftless
