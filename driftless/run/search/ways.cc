// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/ways.h"

#include <array>
#include <cmath>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/plan/linear_layers.h"

namespace driftless::run {
namespace {

using formats::ExponentRule;
using quant::LayerPlan;
using quant::QuantSpec;

/// Around the number of bits.
struct BlockText {
  std::string_view before;
  std::string_view after;
};
constexpr std::array<BlockText, 3> kBlocks = {
    {{"mxint", ""}, {"int", "/block32,scale=e5m3"}, {"int", "_full/block32,scale=s4m3"}}};

/// Widest blocks of any way to store scales whose integers fit bytes on the native engine.
constexpr int kWidestBlocks = 4;

/// Beyond blocks of four bits.
struct WideText {
  std::string_view weights;
  std::string_view acts;
};
constexpr std::array<WideText, 3> kWide = {
    {{"mxint6", "mxint6"}, {"mxint8", "mxint8"}, {"int8/channel", "int8/token"}}};

/// What chooses a scale. Those of mx blocks and of others have few rules in common.
constexpr ExponentRule kMxRules[] = {ExponentRule::Floor, ExponentRule::Round, ExponentRule::Mse};
constexpr ExponentRule kScaleRules[] = {ExponentRule::Round, ExponentRule::Rceil,
                                        ExponentRule::Mse};

ExponentRule usual_rule(const QuantSpec& spec) {
  return spec.has_scale_codes() ? ExponentRule::Round : ExponentRule::Floor;
}

/// What a layer may be given instead of what it has.
QuantSpec quantizer(const std::string& text, const LayerPlan& layer, study::Execution execution) {
  const QuantSpec spec = quant::parse_quant_spec(text);
  return execution == study::Execution::Native ? native::with_window(spec, layer.delta) : spec;
}

/// The same quantizer, whoever chooses the scales.
bool has_same_scales(const QuantSpec& a, const QuantSpec& b) {
  return a.format == b.format && a.scale == b.scale && a.granularity == b.granularity;
}

QuantSpec& side_of(LayerPlan& layer, Side side) {
  return side == Side::Weights ? layer.weights : layer.acts;
}

void set_method(LayerPlan& layer, Rounding& rounding, const Method& method) {
  layer.weights.rule = method.clips ? ExponentRule::Mse : usual_rule(layer.weights);
  rounding = method.rounding;
}

Method method_of(const LayerPlan& layer, Rounding rounding) {
  return {.clips = layer.weights.rule == ExponentRule::Mse, .rounding = rounding};
}

bool applies(const Method& method, const QuantSpec& weights) {
  if (method.rounding == Rounding::Fit) return weights.has_scale_codes();
  return weights.is_in_blocks() || !method.clips;
}

/// Builds changes of one layer.
class Changes {
 public:
  Changes(const Stored& stored, size_t layer) : stored_(stored), at_(layer) {}

  template <class Edit>
  void add(const std::string& what, Edit edit) {
    Change change{.name = now().name + ": " + what, .stored = stored_};
    edit(change.stored.plan.layers[at_], change.stored.roundings[at_]);
    changes_.push_back(std::move(change));
  }
  [[nodiscard]] const LayerPlan& now() const { return stored_.plan.layers[at_]; }
  [[nodiscard]] Rounding rounding() const { return stored_.roundings[at_]; }
  std::vector<Change> take() { return std::move(changes_); }

 private:
  const Stored& stored_;
  size_t at_;
  std::vector<Change> changes_;
};

/// The side's quantizer becomes another one; weights keep their method where it applies.
void add_quantizer(Changes& changes, Side side, const QuantSpec& spec) {
  const std::string what = side == Side::Weights ? "weights " : "acts ";
  changes.add(what + to_string(spec), [&](LayerPlan& layer, Rounding& rounding) {
    const Method method = method_of(layer, rounding);
    side_of(layer, side) = spec;
    if (side == Side::Weights)
      set_method(layer, rounding,
                 applies(method, spec) ? method : Method{.clips = spec.is_in_blocks()});
  });
}

void add_scales(Changes& changes, Side side, study::Execution execution) {
  LayerPlan now = changes.now();
  const QuantSpec& spec = side_of(now, side);
  if (!spec.is_in_blocks() || spec.format->element.bits > kWidestBlocks) return;
  for (const std::string& text : block_quantizers(spec.format->element.bits)) {
    const QuantSpec other = quantizer(text, now, execution);
    if (!has_same_scales(spec, other)) add_quantizer(changes, side, other);
  }
}

void add_methods(Changes& changes) {
  const Method now = method_of(changes.now(), changes.rounding());
  for (const NamedMethod& named : kMethods) {
    const bool is_harmful = named.method.rounding == Rounding::ExactFeedback;
    if (is_harmful || named.method == now || !applies(named.method, changes.now().weights))
      continue;
    changes.add("weights " + std::string(named.name), [&](LayerPlan& layer, Rounding& rounding) {
      set_method(layer, rounding, named.method);
    });
  }
}

void add_rules(Changes& changes) {
  const QuantSpec& now = changes.now().acts;
  if (!now.is_in_blocks()) return;
  for (const ExponentRule rule : now.has_scale_codes() ? kScaleRules : kMxRules) {
    QuantSpec spec = now;
    spec.rule = rule;
    if (rule != now.rule) add_quantizer(changes, Side::Acts, spec);
  }
}

}  // namespace

int element_bits(double bits) {
  constexpr double kScaleShare = 0.25;  // 8 bits for 32 values
  DRIFTLESS_REQUIRE(
      bits >= 2 + kScaleShare && bits < 5 + kScaleShare, ErrorCode::InvalidArgument, "--bits: got ",
      bits, ", expected 2.25 to less than 5.25; --weights and --acts ", "take wider formats");
  return static_cast<int>(std::floor(bits - kScaleShare));
}

std::vector<std::string> block_quantizers(int bits) {
  std::vector<std::string> texts;
  texts.reserve(kBlocks.size());
  for (const BlockText& block : kBlocks)
    texts.push_back(std::string(block.before) + std::to_string(bits) + std::string(block.after));
  return texts;
}

Stored with_method(Stored stored, const Method& method) {
  for (size_t i = 0; i < stored.roundings.size(); ++i)
    set_method(stored.plan.layers[i], stored.roundings[i], method);
  return stored;
}

std::vector<Change> alternatives(const Stored& stored, size_t layer, Part part,
                                 study::Execution execution) {
  Changes changes(stored, layer);
  switch (part) {
    case Part::WeightScales:
      add_scales(changes, Side::Weights, execution);
      break;
    case Part::WeightMethod:
      add_methods(changes);
      break;
    case Part::ActScales:
      add_scales(changes, Side::Acts, execution);
      break;
    case Part::ActRule:
      add_rules(changes);
      break;
  }
  return changes.take();
}

std::vector<Change> widened(const Stored& stored, size_t layer, Side side,
                            study::Execution execution) {
  Changes changes(stored, layer);
  LayerPlan now = changes.now();
  const int64_t bits = side_of(now, side).format->element.bits;
  for (int64_t wider = bits + 1; wider <= kWidestBlocks; ++wider)
    for (const std::string& text : block_quantizers(static_cast<int>(wider)))
      add_quantizer(changes, side, quantizer(text, now, execution));
  for (const WideText& wide : kWide) {
    const std::string text(side == Side::Weights ? wide.weights : wide.acts);
    add_quantizer(changes, side, quantizer(text, now, execution));
  }
  return changes.take();
}

study::PlanBits mean_bits(const quant::QuantPlan& plan, const model::ModelConfig& config) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(config);
  const std::vector<int64_t> values = study::input_values(config);
  study::PlanBits sums;
  double weights = 0;
  double acts = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const LayerPlan* const layer = plan.find(layers[i].name);
    if (layer == nullptr) continue;
    const auto weight_count = static_cast<double>(layers[i].outputs * layers[i].inputs);
    const auto value_count = static_cast<double>(values[i]);
    sums.weights += weight_count * study::bits_per_value(layer->weights, layers[i].inputs);
    sums.acts += value_count * study::bits_per_value(layer->acts, layers[i].inputs);
    weights += weight_count;
    acts += value_count;
  }
  return {.weights = sums.weights / weights, .acts = sums.acts / acts};
}

}  // namespace driftless::run
