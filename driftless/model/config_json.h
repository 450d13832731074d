// SPDX-License-Identifier: Apache-2.0
// A configuration as JSON: the text under the metadata key `config` of a checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "driftless/model/config.h"

namespace driftless::model {

/// Reads and validates. `where` starts every message. Throws BadConfig on malformed JSON, an
/// unknown key (naming the nearest), a missing key, a key that the architecture does not have, a
/// wrong type, or an invalid configuration.
ModelConfig config_from_json(std::string_view text, std::string_view where);

/// One line, keys in a fixed order; only the keys that mean something for this architecture.
std::string config_to_json(const ModelConfig& config);

}  // namespace driftless::model
