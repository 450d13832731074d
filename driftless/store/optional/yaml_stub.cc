// SPDX-License-Identifier: Apache-2.0
// Stands in for yaml.cc where yaml-cpp is absent.
#include "driftless/base/error.h"
#include "driftless/store/torch/yaml.h"

namespace driftless::store {

FlatConfig parse_yaml(std::string_view, std::string_view where) {
  fail(ErrorCode::Unsupported, where,
       ": this build cannot read YAML; install yaml-cpp (Debian: libyaml-cpp-dev) and build again, "
       "or move the file away and give its values as flags");
}

}  // namespace driftless::store
