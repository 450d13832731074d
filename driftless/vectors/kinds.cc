// SPDX-License-Identifier: Apache-2.0
#include "driftless/vectors/kinds.h"

#include <array>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless::vectors {

std::span<const Kind> kinds() {
  static const std::array all = {kDecode, kEncode, kQuantize, kProduct, kStep};
  return all;
}

const Kind& kind_by_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  fail(ErrorCode::InvalidArgument, "kind of cases; got '", name, "', expected one of ",
       join(names, ", "), did_you_mean(name, names));
}

}  // namespace driftless::vectors
