// SPDX-License-Identifier: Apache-2.0
// What driftless data check and stats say about boards, as text.
#pragma once

#include <span>
#include <string>

#include "driftless/task/arc/grid.h"
#include "driftless/task/table.h"

namespace driftless::cli {

/// Whether labels are the only right ones. Throws BadFile, starting with `where`, when a label is
/// no answer: readers of files see to that, those of data-set folders do not.
std::string check_text(const task::Task& task, std::span<const task::Example> examples,
                       const std::string& where);
std::string check_text(std::span<const task::arc::Puzzle> puzzles);

/// Counts and averages.
std::string stats_text(const task::Task& task, std::span<const task::Example> examples);
std::string stats_text(std::span<const task::arc::Puzzle> puzzles);

}  // namespace driftless::cli
