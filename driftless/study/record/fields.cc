// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/fields.h"

#include <algorithm>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::study {
namespace {

bool is_kind(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::Text:
      return value.is_string();
    case Kind::Integer:
      return value.is_number_integer();
    case Kind::Number:
      return value.is_number();
    case Kind::Bool:
      return value.is_boolean();
    case Kind::Object:
      return value.is_object();
    case Kind::Array:
      return value.is_array();
  }
  return false;
}

}  // namespace

void require_fields(const Json& json, std::span<const Field> fields, const std::string& where,
                    Unknown unknown) {
  DRIFTLESS_REQUIRE(json.is_object(), ErrorCode::BadFile, where, ": expected an object");
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const Field& field : fields) {
    names.push_back(field.name);
    const auto found = json.find(field.name);
    if (found == json.end() && field.gap == Gap::Absent) continue;
    DRIFTLESS_REQUIRE(found != json.end(), ErrorCode::BadFile, where, ": no key '", field.name,
                      "'");
    const bool is_fine =
        (found->is_null() && field.gap == Gap::Null) || is_kind(*found, field.kind);
    DRIFTLESS_REQUIRE(is_fine, ErrorCode::BadFile, where, ": '", field.name, "'; got ",
                      quote(found->dump()), ", expected another type");
  }
  if (unknown == Unknown::Ignored) return;
  for (const auto& [name, value] : json.items())
    DRIFTLESS_REQUIRE(std::find(names.begin(), names.end(), name) != names.end(),
                      ErrorCode::BadFile, where, ": unknown key ", quote(name),
                      did_you_mean(name, names));
}

}  // namespace driftless::study
