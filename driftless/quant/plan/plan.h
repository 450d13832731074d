// SPDX-License-Identifier: Apache-2.0
// What happens to each linear layer of one model: its quantizers, its transforms, and what
// calibration found for them; and to the products of attention. A layer that a plan does not name
// stays float.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/quant/plan/scheme.h"
#include "driftless/quant/scale/scale.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

/// The product of a layer is q_acts(R (x / s)) q_weights(R (W s))^T: s are the smoothing factors,
/// R is the rotation; both are absent unless asked for. With `delta` it is a sum over calls: what
/// the input has changed by since the last one is quantized, multiplied and added to what was there
/// (docs/numerics.md, "Changes").
struct LayerPlan {
  std::string name;     ///< of the weight
  QuantSpec weights{};  ///< rows are output channels
  QuantSpec acts{};     ///< rows are tokens; channels where a token mixer reduces over tokens
  BiasPrecision bias = BiasPrecision::Float;
  ScaleSharing sharing = ScaleSharing::All;
  std::optional<double> smooth{};
  bool hadamard = false;
  bool delta = false;

  /// By calibration, for static activations: one scale, or one for each network call of a
  /// supervision step.
  std::vector<Scale> scales{};
  /// Learned scales of static weights: one, or one for each output channel.
  std::vector<Scale> weight_scales{};
  /// By calibration, for `smooth`: the largest magnitude of each input.
  std::vector<float> input_absmax{};

  bool operator==(const LayerPlan&) const = default;

  /// The static scale of a call. Requires scales.
  [[nodiscard]] const Scale& scale_of_call(int64_t call) const {
    return scales.size() == 1 ? scales[0] : scales[static_cast<size_t>(call)];
  }
  [[nodiscard]] bool needs_scales() const { return acts.source == Source::Static; }
  [[nodiscard]] bool is_calibrated() const {
    return (!needs_scales() || !scales.empty()) && (!smooth || !input_absmax.empty());
  }
};

struct QuantPlan {
  std::vector<LayerPlan> layers{};
  AttentionPrecision attention = AttentionPrecision::Float;

  bool operator==(const QuantPlan&) const = default;
  /// Whether it changes nothing.
  [[nodiscard]] bool is_float() const {
    return layers.empty() && attention == AttentionPrecision::Float;
  }
  /// Null for a layer that stays float.
  [[nodiscard]] const LayerPlan* find(std::string_view name) const;
  /// Whether static scales or smoothing factors are still missing.
  [[nodiscard]] bool needs_calibration() const;
};

/// The plan of a scheme for a model with these layers; empty where the scheme changes nothing. The
/// scales of weights are constants either way, so `static` is dropped from a weight quantizer.
/// Throws InvalidArgument for a quantizer that does not suit its side: channel scales of
/// activations, token scales of weights, a smoothing strength outside 0 to 1, a bias precision
/// where no covered layer has a bias, a precision of attention where the model has none.
QuantPlan resolve(const Scheme& scheme, std::span<const LinearLayer> layers);

/// Throws BadConfig, `where` first, when the plan names a layer that is not there (with the nearest
/// name), names one twice, has quantizers or an attention that resolve refuses (weights may be
/// static here, with their learned scales), or holds calibration results that do not suit the layer
/// or `calls`, the network calls of a supervision step.
void require_fits(const QuantPlan& plan, std::span<const LinearLayer> layers, int64_t calls,
                  std::string_view where);

/// The resolved pair and coverage in one line, for results: "weights mxint4, acts mxint4, coverage
/// block"; where layers differ, how many have which: "weights mxint4 x 6 | int8 x 2, ...".
std::string describe(const QuantPlan& plan, std::span<const LinearLayer> layers);

}  // namespace driftless::quant
