// SPDX-License-Identifier: Apache-2.0
// What a report needs of the JSON that `driftless bench --json` writes.
#pragma once

#include <string_view>

#include "driftless/study/record/fields.h"

namespace driftless::study {

/// Checks "model", "processor", "native_kernels", "threads", "rounds", "calm" and the rows of
/// "peaks", "gemm" and "step" (all may be empty); other keys may be there. Throws BadFile with
/// `where` and the key.
void require_bench_record(const Json& bench, std::string_view where);

}  // namespace driftless::study
