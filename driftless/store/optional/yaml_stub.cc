// SPDX-License-Identifier: Apache-2.0
// Stands in for yaml.cc where yaml-cpp is absent.
#include "driftless/store/torch/plain_yaml.h"

namespace driftless::store {

FlatConfig parse_yaml(std::string_view text, std::string_view where) {
  return parse_plain_yaml(text, where);
}

}  // namespace driftless::store
