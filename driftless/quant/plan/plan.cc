// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::quant {
namespace {

/// Whether the quantizers suit their sides; `where` names what they are for.
void require_sides(const LayerPlan& layer, ErrorCode code, std::string_view where) {
  DRIFTLESS_REQUIRE(layer.weights.granularity != Granularity::Token, code, where, "weights '",
                    to_string(layer.weights),
                    "': a weight has no tokens; expected channel for a scale per row");
  DRIFTLESS_REQUIRE((layer.weights.source == Source::Static) == !layer.weight_scales.empty(), code,
                    where, "weights '", to_string(layer.weights), "'; got ",
                    layer.weight_scales.size(),
                    " weight_scales; scales of weights come from the weights, expected 'static' "
                    "only with learned weight_scales");
  DRIFTLESS_REQUIRE(layer.acts.granularity != Granularity::Channel, code, where, "acts '",
                    to_string(layer.acts),
                    "': the rows of an activation are tokens; expected token for a scale per row");
  DRIFTLESS_REQUIRE(!layer.smooth || (*layer.smooth >= 0 && *layer.smooth <= 1), code, where,
                    "smoothing strength; got ", *layer.smooth, ", expected 0 to 1");
  const bool has_changes = !layer.acts.is_none() && layer.acts.source == Source::Dynamic;
  DRIFTLESS_REQUIRE(!layer.delta || has_changes, code, where, "delta: acts '",
                    to_string(layer.acts),
                    "'; expected a quantizer with dynamic scales, as those of changes differ from "
                    "call to call");
}

void require_attention(AttentionPrecision precision, std::span<const LinearLayer> layers,
                       ErrorCode code, std::string_view where) {
  const bool has_attention = std::any_of(
      layers.begin(), layers.end(), [](const LinearLayer& layer) { return layer.feeds_attention; });
  DRIFTLESS_REQUIRE(precision == AttentionPrecision::Float || has_attention, code, where,
                    "attention: the model mixes tokens without it; got ", to_string(precision),
                    ", expected none");
}

const LinearLayer& find_layer(const std::string& name, std::span<const LinearLayer> layers,
                              std::string_view where) {
  std::vector<std::string_view> names;
  names.reserve(layers.size());
  for (const LinearLayer& layer : layers) {
    if (layer.name == name) return layer;
    names.push_back(layer.name);
  }
  fail(ErrorCode::BadConfig, where, ": the model has no linear layer ", quote(name),
       did_you_mean(name, names));
}

/// "mxint4" where all layers agree, "mxint4 x 6 | int8 x 2" otherwise, in order of appearance.
std::string tally(const std::vector<std::string>& texts) {
  std::vector<std::string> distinct;
  std::map<std::string, int64_t> counts;
  for (const std::string& text : texts)
    if (++counts[text] == 1) distinct.push_back(text);
  if (distinct.size() == 1) return distinct[0];
  std::string line;
  for (const std::string& text : distinct)
    line += (line.empty() ? "" : " | ") + text + " x " + std::to_string(counts[text]);
  return line;
}

}  // namespace

const LayerPlan* QuantPlan::find(std::string_view name) const {
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [&](const LayerPlan& layer) { return layer.name == name; });
  return found == layers.end() ? nullptr : &*found;
}

bool QuantPlan::needs_calibration() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerPlan& layer) { return !layer.is_calibrated(); });
}

QuantPlan resolve(const Scheme& scheme, std::span<const LinearLayer> layers) {
  require_attention(scheme.attention, layers, ErrorCode::InvalidArgument, "");
  QuantPlan plan{.attention = scheme.attention};
  LayerPlan common{.name = "",
                   .weights = scheme.weights,
                   .acts = scheme.acts,
                   .bias = BiasPrecision::Float,
                   .sharing = scheme.sharing,
                   .smooth = scheme.smooth,
                   .hadamard = scheme.hadamard,
                   .delta = scheme.delta};
  common.weights.source = Source::Dynamic;
  common.weights.fold = {};
  require_sides(common, ErrorCode::InvalidArgument, "");
  bool has_bias = scheme.bias == BiasPrecision::Float;
  for (const LinearLayer& layer : layers) {
    if (!layer.is_in_block && scheme.coverage == Coverage::Block) continue;
    LayerPlan planned = common;
    planned.name = layer.name;
    planned.delta = scheme.delta && layer.is_in_block;
    if (layer.has_bias) planned.bias = scheme.bias;
    has_bias |= layer.has_bias;
    const LayerPlan untouched{.name = layer.name, .sharing = scheme.sharing};
    if (planned != untouched) plan.layers.push_back(std::move(planned));
  }
  DRIFTLESS_REQUIRE(has_bias, ErrorCode::InvalidArgument, "bias ", to_string(scheme.bias),
                    ": no covered layer has a bias; expected coverage linear");
  return plan;
}

void require_fits(const QuantPlan& plan, std::span<const LinearLayer> layers, int64_t calls,
                  std::string_view where) {
  require_attention(plan.attention, layers, ErrorCode::BadConfig, std::string(where) + ": ");
  std::set<std::string_view> seen;
  for (const LayerPlan& planned : plan.layers) {
    const LinearLayer& layer = find_layer(planned.name, layers, where);
    const auto require = [&](bool is_fine, const auto&... message) {
      DRIFTLESS_REQUIRE(is_fine, ErrorCode::BadConfig, where, ": layer '", layer.name,
                        "': ", message...);
    };
    require(seen.insert(layer.name).second, "is named twice");
    require_sides(planned, ErrorCode::BadConfig,
                  std::string(where) + ": layer '" + layer.name + "': ");
    const auto scales = std::ssize(planned.scales);
    require(scales <= 1 || scales == calls, "scales; got ", scales, ", expected 1 or ", calls,
            ", one for each network call of a step");
    require(scales == 0 || planned.needs_scales(), "has scales, but its activations '",
            to_string(planned.acts), "' are not static");
    for (const Scale& scale : planned.scales)
      require(scale.scale > 0 && std::isnormal(scale.scale) && std::isfinite(scale.zero),
              "static scale; got ", scale.scale, ", expected a positive normal number");
    const auto learned = std::ssize(planned.weight_scales);
    const bool is_per_row = planned.weights.granularity == Granularity::Channel;
    require(learned == 0 || learned == (is_per_row ? layer.outputs : 1), "weight_scales; got ",
            learned, ", expected ", is_per_row ? layer.outputs : 1);
    for (const Scale& scale : planned.weight_scales)
      require(scale.scale > 0 && std::isnormal(scale.scale), "weight scale; got ", scale.scale,
              ", expected a positive normal number");
    const auto inputs = std::ssize(planned.input_absmax);
    require(inputs == 0 || inputs == layer.inputs, "input_absmax; got ", inputs,
            " values, expected ", layer.inputs);
    require(planned.bias == BiasPrecision::Float || layer.has_bias, "has no bias");
    require(!planned.delta || layer.is_in_block,
            "delta; expected it for layers of the recursive block only, heads run once a step");
  }
}

std::string describe(const QuantPlan& plan, std::span<const LinearLayer> layers) {
  const std::string attention = plan.attention == AttentionPrecision::Float
                                    ? ""
                                    : ", attention " + std::string(to_string(plan.attention));
  if (plan.layers.empty()) return "weights none, acts none" + attention;
  std::vector<std::string> weights;
  std::vector<std::string> acts;
  std::vector<std::string> extras;
  bool covers_heads = false;
  for (const LinearLayer& layer : layers) {
    const LayerPlan* const planned = plan.find(layer.name);
    if (planned == nullptr) continue;
    covers_heads |= !layer.is_in_block;
    weights.push_back(to_string(planned->weights));
    acts.push_back(to_string(planned->acts));
    // What a scheme says after its coverage.
    const Scheme bare{.bias = planned->bias,
                      .sharing = planned->sharing,
                      .smooth = planned->smooth,
                      .hadamard = planned->hadamard,
                      .delta = planned->delta};
    const std::string text = to_string(bare).substr(to_string(Scheme{}).size());
    if (std::find(extras.begin(), extras.end(), text) == extras.end()) extras.push_back(text);
  }
  std::string line = "weights " + tally(weights) + ", acts " + tally(acts) + ", coverage " +
                     std::string(to_string(covers_heads ? Coverage::Linear : Coverage::Block));
  for (const std::string& extra : extras) line += extra;
  return line + attention;
}

}  // namespace driftless::quant
