// SPDX-License-Identifier: Apache-2.0
// Two evaluations of the same boards, the earlier one from the lines of `eval --predictions`.
#pragma once

#include <filesystem>

#include "driftless/run/boards.h"
#include "driftless/run/evaluation.h"
#include "driftless/run/evaluation_json.h"
#include "driftless/study/measure/paired.h"

namespace driftless::run {

struct Against {
  study::Paired exact{};   ///< the earlier one is the reference
  double steps_ratio = 1;  ///< of mean steps, to the earlier one's
};

/// Boards are found by their questions; the file may hold others too. Throws Io, BadFile on lines
/// of another kind, and InvalidArgument, naming it, for a board that the file lacks, and for ARC,
/// whose boards have no question of their own.
Against compare_with(const std::filesystem::path& predictions, const Boards& boards,
                     const Evaluation& result);

/// {"lost", "gained", "difference", "low", "high", "p_value", "steps_ratio"}.
Json against_json(const Against& against);

}  // namespace driftless::run
