// SPDX-License-Identifier: Apache-2.0
// How a model is packed: what chooses the scales of its weights, and what rounds them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/reason/plan/moments.h"
#include "driftless/run/scheme.h"
#include "driftless/store/packed_model.h"

namespace driftless::run {

enum class Rounding : uint8_t {
  Nearest,
  Feedback,       ///< gptq: errors are made up for (quant/feedback)
  ExactFeedback,  ///< gptaq: those of rounded activations too
  Descent,        ///< descent: as gptq, then single weights again until none helps
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
inline constexpr std::array<NamedMethod, 9> kMethods = {{
    {"nearest", {}},
    {"gptq", {.rounding = Rounding::Feedback}},
    {"gptaq", {.rounding = Rounding::ExactFeedback}},
    {"descent", {.rounding = Rounding::Descent}},
    {"fit", {.rounding = Rounding::Fit}},
    {"clip", {.clips = true}},
    {"clip,gptq", {.clips = true, .rounding = Rounding::Feedback}},
    {"clip,gptaq", {.clips = true, .rounding = Rounding::ExactFeedback}},
    {"clip,descent", {.clips = true, .rounding = Rounding::Descent}},
}};

/// Throws InvalidArgument with the nearest name.
Method parse_method(std::string_view name);
/// The name of one of kMethods.
std::string to_string(const Method& method);
std::vector<std::string> all_methods();

/// Boards behind second moments where nothing says how many: each brings a row of inputs for every
/// cell in every call of every step.
inline constexpr int64_t kMomentBoards = 32;

/// Packs one checkpoint under plan after plan, each layer with a rounding of its own. What was
/// rounded once is kept, and second moments are seen once.
class Packer {
 public:
  /// The checkpoint is looked at for as long as it lives.
  Packer(const store::Checkpoint& checkpoint, const BackendOptions& backend,
         const CalibrationOptions& calibration);

  /// From here on second moments are those of inputs under the activations of this plan.
  void see_under(const quant::QuantPlan& plan);

  /// One rounding for each layer of the plan; feedback requires see_under(). Throws what pack()
  /// throws.
  store::PackedModel pack(const quant::QuantPlan& plan, std::span<const Rounding> roundings);

  /// Of the model that was packed last: "second moments of 8 boards of FILE, seed 1; damping 0.01",
  /// or empty where no layer's errors were fed back.
  [[nodiscard]] std::string note() const { return note_; }

 private:
  struct Rounded {
    quant::QuantizedMatrix matrix;
    std::optional<double> damping{};  // of feedback
    int64_t unseen = 0;
  };
  struct Seen {
    reason::Moments moments;
    std::string boards;
  };
  Seen see(reason::Exact exact) const;
  const Seen& seen(reason::Exact exact);
  Rounded round(const quant::LayerPlan& layer, quant::ConstMat weight, Rounding rounding);

  const store::Checkpoint& checkpoint_;
  BackendOptions backend_;
  CalibrationOptions calibration_;
  quant::QuantPlan seen_under_;
  std::map<reason::Exact, Seen> seen_;
  std::map<std::string, Rounded> rounded_;  // by layer, quantizer and rounding
  std::string note_;
};

/// The checkpoint under the scheme's plan, as the method changes it. Feedback runs calibration
/// boards on the device's simulator; `method` of the packed model says which, and what damping the
/// moments took. Throws what pack_model, calibration_source and reason::input_moments throw, and
/// InvalidArgument, naming the layer, where the method does not apply to a quantizer.
store::PackedModel pack(const store::Checkpoint& checkpoint, const PlannedScheme& scheme,
                        const Method& method, const BackendOptions& backend,
                        const CalibrationOptions& calibration);

}  // namespace driftless::run
