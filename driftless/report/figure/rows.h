// SPDX-License-Identifier: Apache-2.0
// Records of studies as figures need them: chosen, grouped by model, and named.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/report/figure/chart.h"
#include "driftless/report/results.h"

namespace driftless::report {

/// Records of one model on one set of boards, in the order of their rows.
using Group = std::vector<const Json*>;

enum class Split : uint8_t { ByModel, ByStudy };

/// Those of some studies, or of all where none is named, by model, data and number of boards, and
/// by study where asked.
std::vector<Group> groups_of(const Results& results, std::span<const std::string_view> studies,
                             Split split = Split::ByStudy);

/// "float", "mxint4", "int4 weights alone", "int4 weights, int8 activations".
std::string scheme_name(const Json& config);
/// The scheme as ladder takes it: "none", "mxint4", "int4:none".
std::string scheme_word(const Json& config);

/// What beside the scheme tells rows of a group apart, as numbers or words of a configuration.
enum class Variation : uint8_t {
  Coverage,
  Bias,
  Scales,
  Smooth,
  Hadamard,
  Delta,
  HCycles,
  LCycles,
  Steps,
  CalibrationBoards,
  Rollouts,
  Noise
};

/// The scheme, and the values that differ between the group's records of this scheme; `without`
/// leaves out those that the figure shows otherwise.
std::string row_name(const Json& record, const Group& group,
                     std::span<const Variation> without = {});

bool is_float(const Json& record);
Estimate estimate(const Json& share);  ///< of {"share" or "mean", "low", "high"}
/// Ink for float, blue where the trajectory contracts, orange elsewhere.
Tone verdict_tone(const Json& record);
/// "contracts"; "" for float and where it was not measured.
std::string verdict_text(const Json& record);

/// "sudoku-trm" of "models/sudoku-trm.safetensors".
std::string model_name(std::string_view file);
/// "sudoku-trm, 5,000 boards".
std::string group_name(const Group& group);

}  // namespace driftless::report
