// SPDX-License-Identifier: Apache-2.0
// How the weights of a packed model are rounded, by name.
#pragma once

#include <array>
#include <string_view>

#include "driftless/base/enum_names.h"
#include "driftless/run/scheme.h"
#include "driftless/store/packed_model.h"

namespace driftless::run {

enum class Rounding : uint8_t {
  Nearest,
  Feedback,       ///< gptq: errors are made up for (quant/feedback)
  ExactFeedback,  ///< gptaq: those of rounded activations too
};

inline constexpr std::array<EnumName<Rounding>, 3> kRoundings = {
    {{Rounding::Nearest, "nearest"},
     {Rounding::Feedback, "gptq"},
     {Rounding::ExactFeedback, "gptaq"}}};

/// The row of kRoundings called `name`. Throws InvalidArgument with the nearest name.
Rounding parse_rounding(std::string_view name);

/// Boards behind second moments where nothing says how many: each brings a row of inputs for every
/// cell in every call of every step.
inline constexpr int64_t kMomentBoards = 32;

/// The checkpoint under the scheme's plan. Feedback runs calibration boards on the device's
/// simulator; `method` of the packed model says which, and what damping the moments took. Throws
/// what pack_model, calibration_source and reason::input_moments throw.
store::PackedModel pack(const store::Checkpoint& checkpoint, const PlannedScheme& scheme,
                        Rounding rounding, const BackendOptions& backend,
                        const CalibrationOptions& calibration);

}  // namespace driftless::run
