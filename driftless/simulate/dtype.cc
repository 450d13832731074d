// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/dtype.h"

#include <string>

#include "driftless/base/error.h"

namespace driftless::simulate {

std::string_view to_string(Dtype dtype) { return kDtypeNames[static_cast<size_t>(dtype)].name; }

Dtype parse_dtype(std::string_view text) {
  std::string names;
  for (const DtypeName& row : kDtypeNames) {
    if (row.name == text) return row.dtype;
    names += (names.empty() ? "" : " or ") + std::string(row.name);
  }
  fail(ErrorCode::InvalidArgument, "dtype; got '", text, "', expected ", names);
}

}  // namespace driftless::simulate
