// SPDX-License-Identifier: Apache-2.0
// What a JSON object of a result must hold, as a table of fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace driftless::study {

using Json = nlohmann::ordered_json;

enum class Kind { Text, Integer, Number, Bool, Object, Array };
/// What may stand in for a value.
enum class Gap { None, Null, Absent };
enum class Unknown { Refused, Ignored };

struct Field {
  std::string_view name;
  Kind kind;
  Gap gap = Gap::None;
};

/// Throws BadFile with `where` and the key unless every field is there and of its kind, and, unless
/// they are to be ignored, no other key is.
void require_fields(const Json& json, std::span<const Field> fields, const std::string& where,
                    Unknown unknown = Unknown::Refused);

}  // namespace driftless::study
