// SPDX-License-Identifier: Apache-2.0
// YAML without yaml-cpp: what training scripts write, and no more.
#pragma once

#include "driftless/store/torch/yaml.h"

namespace driftless::store {

/// As parse_yaml, for ASCII text of one key or list item a line with plain or quoted values, which
/// is what PyYAML writes for a configuration. Throws Unsupported on more, BadFile on outsized text.
FlatConfig parse_plain_yaml(std::string_view text, std::string_view where);

}  // namespace driftless::store
