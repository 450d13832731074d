// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace driftless::detail {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace driftless::detail
