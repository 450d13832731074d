// SPDX-License-Identifier: Apache-2.0
// The result of training through a quantizer as one line of JSON: the same plan on the same boards
// before and after. docs/report.md shows how to make one of a run's log.
#pragma once

#include <cstdint>
#include <string_view>

#include "driftless/study/record/fields.h"

namespace driftless::study {

inline constexpr int64_t kQatSchema = 1;

/// Checks {"qat": 1, "method": how it was trained, "weights", "acts", "coverage", "checkpoint":
/// {file, sha256} that it started from, "data": name of the boards, "seed", "steps" of training,
/// "n" boards, "before" and "after": {"exact": {share, hits, n, low, high}, "cells": {mean, n, low,
/// high}}, "float_exact": the start without quantizers (its n may differ) or null, "theirs":
/// {"before", "after"}, each a share or null, "command"}. Ends of intervals of cells may be null.
/// Throws BadFile with `where` and the key.
void require_qat_record(const Json& record, std::string_view where);

}  // namespace driftless::study
