// SPDX-License-Identifier: Apache-2.0
// Two evaluations of the same boards, the earlier one from the lines of `eval --predictions`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "driftless/run/boards.h"
#include "driftless/run/score/evaluation.h"
#include "driftless/run/score/evaluation_json.h"
#include "driftless/study/measure/paired.h"

namespace driftless::run {

/// What an earlier evaluation made of a board.
struct Earlier {
  bool is_exact = false;
  int64_t steps = 0;
};

/// Of each of the boards, found by its question; the file may hold others too. Boards of the same
/// question take its lines in turn, the last line again where they are more. Throws Io, BadFile on
/// lines of another kind, and InvalidArgument, naming it, for a board that the file lacks, and for
/// ARC, whose boards have no question of their own.
std::vector<Earlier> read_earlier(const std::filesystem::path& predictions, const Boards& boards);

struct Against {
  study::Paired exact{};   ///< the earlier one is the reference
  double steps_ratio = 1;  ///< of mean steps, to the earlier one's
};
Against compare(std::span<const Earlier> earlier, const Boards& boards, const Evaluation& result);

/// {"lost", "gained", "difference", "low", "high", "p_value", "steps_ratio"}.
Json against_json(const Against& against);

}  // namespace driftless::run
