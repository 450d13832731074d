// SPDX-License-Identifier: Apache-2.0
// What an evaluation found, as JSON: the record of `driftless eval --json` and of the library.
#pragma once

#include <nlohmann/json.hpp>

#include "driftless/run/score/evaluation.h"

namespace driftless::run {

using Json = nlohmann::ordered_json;

/// {"share", "n", "low", "high"}.
Json estimate_json(double share, const task::Interval& interval, int64_t n);
/// The same and "hits".
Json share_json(const task::Share& share);
Json mean_json(const task::Moments& shares);

/// Under the names that the published code logs them with.
Json published_json(const Evaluation& result);

/// {"exact", "accepted", "cells", "published", "mean_steps", "wall_s"}.
Json evaluation_json(const Evaluation& result);

}  // namespace driftless::run
