// SPDX-License-Identifier: Apache-2.0
// The ladder's table for other programs: every digit as CSV, the printed ones as LaTeX.
#pragma once

#include <span>
#include <string>

#include "driftless/study/record/record.h"

namespace driftless::study {

/// One line a record, in the order of the table, under a line of heads. Shares are shares, not
/// percent; what a record lacks is empty.
std::string ladder_csv(std::span<const Json> records);

/// A tabular of package booktabs: formats, bits, boards solved in percent with their 95 % interval,
/// the paired difference from float in points, and the verdict.
std::string ladder_latex(std::span<const Json> records);

}  // namespace driftless::study
