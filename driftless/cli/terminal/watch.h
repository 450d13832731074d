// SPDX-License-Identifier: Apache-2.0
// Long work of driftless/run on the terminal: a progress line, and an end at Ctrl-C or SIGTERM.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "driftless/reason/plan/calibrate.h"
#include "driftless/study/runner.h"
#include "driftless/task/score.h"

namespace driftless::cli {

// Each throws Interrupted, with how far the work came, when a signal comes while an InterruptGuard
// lives. The line goes away with the watch.

/// For run::CalibrationOptions.
reason::OnBoard watch_calibration(int64_t boards);

/// For run::ScoringOptions: `total` boards, under what `scheme` says.
std::function<void(int64_t done, const task::Score& score)> watch_evaluation(
    int64_t total, const std::string& scheme);

/// For run::StudyRows. Ctrl-C ends the program: what is finished is in the results file.
std::function<void(const study::StudyProgress& progress)> watch_study(const std::string& name);

}  // namespace driftless::cli
