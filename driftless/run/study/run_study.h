// SPDX-License-Identifier: Apache-2.0
// Rows of a study to their records.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driftless/run/study/study_files.h"
#include "driftless/run/study/study_rows.h"

namespace driftless::run {

/// The schemes that a ladder climbs where nothing else is asked for.
std::vector<std::string> default_ladder();

/// The rows of a ladder, completed: those of the schemes, or, for a packed model, float and its
/// own; native ones each behind its simulation. Throws InvalidArgument where schemes are asked of a
/// packed model, and what `resolve`, `row_of` and `complete` throw.
std::vector<study::Row> ladder_rows(SchemeRows named, const StudyFiles& files);

/// Rows that are asked for.
struct StudyRows {
  std::string name;  ///< of the study
  std::span<const study::Row> rows;
  int64_t first_row = 0;  ///< number of the first one within its study
  std::function<void(const study::StudyProgress& progress)> watch{};
  /// Hears of every record as it comes, those that were finished earlier first.
  std::function<void(const study::Json& record)> on_record{};
};

/// Runs the rows, with a results file where the options name one, and returns all their records,
/// finished earlier or now; none on ranks other than 0.
std::vector<study::Json> run_study(const StudyFiles& files, const StudyRows& asked);

}  // namespace driftless::run
