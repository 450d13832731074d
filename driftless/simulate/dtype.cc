// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/dtype.h"

namespace driftless::simulate {

std::string_view to_string(Dtype dtype) { return enum_name(kDtypeNames, dtype); }

Dtype parse_dtype(std::string_view text) {
  return parse_enum(kDtypeNames, text, "dtype", ErrorCode::InvalidArgument);
}

}  // namespace driftless::simulate
