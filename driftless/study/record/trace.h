// SPDX-License-Identifier: Apache-2.0
// Trajectories to look at: what several schemes answer on a few boards, step by step. A trace is
// one JSON object, compact because a page carries it:
//
//   {"trace": 1, "version", "checkpoint", "data", "task", "alphabet", "seed", "steps", "n",
//    "schemes": [a resolved row each],
//    "boards": [{"number", "input", "label",
//                "runs": [{"answers": ["534...", ...],     text of the task, "" if as before
//                          "confidence": ["zzx0...", ...], a base-36 digit a cell: 35 times the
//                                                          probability of the answer, rounded
//                          "outcome": "wwae",              wrong, accepted, exact
//                          "divergence": [...],            |z_L - z_L of float|
//                          "halt": [...]}]}],              halt logit
//    "basin": {"share": [a, b],                  of the squared distances along each axis
//              "runs": [[{"x": [...], "y": [...],  z_L less the float model's last z_L, along the
//                                                two directions that hold most of it
//                         "residual": [...]}]]}} |s_t - s_(t-1)|, s = (z_H, z_L)
//
// Lists inside a run have an entry for each step, runs one for each scheme. Those of the basin are
// lists by scheme of lists by board, of the first kBasinBoards boards.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/study/runner.h"

namespace driftless::study {

inline constexpr int64_t kTraceSchema = 1;
/// Their states at all steps are kept until the end.
inline constexpr int64_t kBasinBoards = 12;

/// Runs every resolved row over the boards of the input, a batch at a time. Throws InvalidArgument
/// without rows or boards, or where rows differ in their steps or have rollouts; Numeric when a
/// logit is not finite.
Json make_trace(std::span<const Row> rows, const StudyInput& input, const Backend& backend);

/// Checks what readers index: every key there and of its type, lists and texts of the lengths
/// above. Throws BadFile with `where`.
void require_trace(const Json& trace, std::string_view where);

}  // namespace driftless::study
