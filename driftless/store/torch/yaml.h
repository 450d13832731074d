// SPDX-License-Identifier: Apache-2.0
// The scalars of a YAML file, flattened. Built on yaml-cpp; without it the plain YAML that training
// scripts write is read, and the rest is an error.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace driftless::store {

/// Dotted path to text: {"arch.H_cycles", "3"}; elements of a list have their index as name. A
/// null is an empty text.
using FlatConfig = std::map<std::string, std::string>;

/// `where` starts every message. Throws BadFile on malformed or outsized text, and without yaml-cpp
/// Unsupported on what parse_plain_yaml does not read.
FlatConfig parse_yaml(std::string_view text, std::string_view where);

}  // namespace driftless::store
