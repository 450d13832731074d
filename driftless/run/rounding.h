// SPDX-License-Identifier: Apache-2.0
// How a model is packed: what chooses the scales of its weights, and what rounds them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/run/scheme.h"
#include "driftless/store/packed_model.h"

namespace driftless::run {

enum class Rounding : uint8_t {
  Nearest,
  Feedback,       ///< gptq: errors are made up for (quant/feedback)
  ExactFeedback,  ///< gptaq: those of rounded activations too
  Fit,            ///< fit: of all scales that a block can store the one of least error
};

/// What becomes of a plan before it is packed, and how weights are rounded then.
struct Method {
  bool clips = false;  ///< clip: weights' scales are those of least squared error
  Rounding rounding = Rounding::Nearest;

  bool operator==(const Method&) const = default;
};

struct NamedMethod {
  std::string_view name;
  Method method;
};
/// All methods there are: fit chooses scales by itself, so that nothing is clipped before it.
inline constexpr std::array<NamedMethod, 7> kMethods = {{
    {"nearest", {}},
    {"gptq", {.rounding = Rounding::Feedback}},
    {"gptaq", {.rounding = Rounding::ExactFeedback}},
    {"fit", {.rounding = Rounding::Fit}},
    {"clip", {.clips = true}},
    {"clip,gptq", {.clips = true, .rounding = Rounding::Feedback}},
    {"clip,gptaq", {.clips = true, .rounding = Rounding::ExactFeedback}},
}};

/// Throws InvalidArgument with the nearest name.
Method parse_method(std::string_view name);
/// The name of one of kMethods.
std::string to_string(const Method& method);
std::vector<std::string> all_methods();

/// Boards behind second moments where nothing says how many: each brings a row of inputs for every
/// cell in every call of every step.
inline constexpr int64_t kMomentBoards = 32;

/// The checkpoint under the scheme's plan, as the method changes it. Feedback runs calibration
/// boards on the device's simulator; `method` of the packed model says which, and what damping the
/// moments took. Throws what pack_model, calibration_source and reason::input_moments throw, and
/// InvalidArgument, naming the layer, where the method does not apply to a quantizer.
store::PackedModel pack(const store::Checkpoint& checkpoint, const PlannedScheme& scheme,
                        const Method& method, const BackendOptions& backend,
                        const CalibrationOptions& calibration);

}  // namespace driftless::run
