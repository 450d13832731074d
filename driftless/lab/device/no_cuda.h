// SPDX-License-Identifier: Apache-2.0
// What a build without CUDA says of what needs it.
#pragma once

#include <string_view>

#include "driftless/base/error.h"

namespace driftless::lab {

[[noreturn]] inline void no_cuda(std::string_view what) {
  fail(ErrorCode::Unsupported, what,
       ": this build has no CUDA; configure with -DDRIFTLESS_CUDA=ON");
}

}  // namespace driftless::lab
