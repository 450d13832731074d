// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/plan_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::quant {
namespace {

using Json = nlohmann::json;

constexpr int64_t kVersion = 1;
constexpr std::array<std::string_view, 3> kPlanKeys = {"version", "layers", "attention"};
constexpr std::span kRequiredKeys = std::span(kPlanKeys).first(2);
constexpr std::array<std::string_view, 11> kLayerKeys = {
    "weights", "acts",   "sharing", "bias",          "smooth",      "hadamard",
    "delta",   "scales", "zeros",   "weight_scales", "input_absmax"};

void require_keys(const Json& object, std::span<const std::string_view> known,
                  std::string_view where) {
  DRIFTLESS_REQUIRE(object.is_object(), ErrorCode::BadConfig, where, ": wrong type; got ",
                    object.type_name(), ", expected an object");
  for (const auto& [key, value] : object.items()) {
    const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
    DRIFTLESS_REQUIRE(is_known, ErrorCode::BadConfig, where, ": unknown key ", quote(key),
                      did_you_mean(key, known));
  }
}

/// Reads the values of one object; each getter returns its default where the key is absent.
struct Reader {
  const Json& object;
  std::string where;

  [[nodiscard]] const Json* find(std::string_view key) const {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
  void require(bool is_fine, std::string_view key, const Json& value,
               std::string_view expected) const {
    DRIFTLESS_REQUIRE(is_fine, ErrorCode::BadConfig, where, ": ", key, "; got ",
                      quote(value.dump()), ", expected ", expected);
  }
  /// parse(text), with errors that say where.
  template <class Value, class Parse>
  [[nodiscard]] Value word(std::string_view key, Value absent, Parse parse) const {
    const Json* const value = find(key);
    if (value == nullptr) return absent;
    require(value->is_string(), key, *value, "a string");
    try {
      return parse(value->get_ref<const std::string&>());
    } catch (const Error& error) {
      fail(ErrorCode::BadConfig, where, ": ", key, ": ", error.what());
    }
  }
  [[nodiscard]] bool flag(std::string_view key) const {
    const Json* const value = find(key);
    if (value == nullptr) return false;
    require(value->is_boolean(), key, *value, "true or false");
    return value->get<bool>();
  }
  [[nodiscard]] std::vector<float> numbers(std::string_view key) const {
    const Json* const value = find(key);
    if (value == nullptr) return {};
    require(value->is_array(), key, *value, "an array of numbers");
    std::vector<float> values;
    values.reserve(value->size());
    for (const Json& item : *value) {
      require(item.is_number() && std::isfinite(item.get<float>()), key, item, "finite numbers");
      values.push_back(item.get<float>());
    }
    return values;
  }
};

std::vector<Scale> scales_of(const Reader& reader) {
  const std::vector<float> scales = reader.numbers("scales");
  const std::vector<float> zeros = reader.numbers("zeros");
  DRIFTLESS_REQUIRE(zeros.empty() || zeros.size() == scales.size(), ErrorCode::BadConfig,
                    reader.where, ": zeros; got ", zeros.size(),
                    ", expected as many as scales: ", scales.size());
  std::vector<Scale> joined;
  joined.reserve(scales.size());
  for (size_t i = 0; i < scales.size(); ++i)
    joined.push_back({.scale = scales[i], .zero = zeros.empty() ? 0 : zeros[i]});
  return joined;
}

LayerPlan layer_from(const std::string& name, const Json& object, std::string_view where) {
  const Reader reader{object, std::string(where) + ": layer " + quote(name)};
  require_keys(object, kLayerKeys, reader.where);
  LayerPlan layer{.name = name};
  layer.weights = reader.word("weights", QuantSpec{}, parse_quant_spec);
  layer.acts = reader.word("acts", QuantSpec{}, parse_quant_spec);
  layer.sharing = reader.word("sharing", ScaleSharing::All, parse_scale_sharing);
  layer.bias = reader.word("bias", BiasPrecision::Float, parse_bias_precision);
  if (const Json* const smooth = reader.find("smooth")) {
    const bool is_strength =
        smooth->is_number() && smooth->get<double>() >= 0 && smooth->get<double>() <= 1;
    reader.require(is_strength, "smooth", *smooth, "a number from 0 to 1");
    layer.smooth = smooth->get<double>();
  }
  layer.hadamard = reader.flag("hadamard");
  layer.delta = reader.flag("delta");
  layer.scales = scales_of(reader);
  const std::vector<float> learned = reader.numbers("weight_scales");
  layer.weight_scales.reserve(learned.size());
  for (const float scale : learned) layer.weight_scales.push_back({.scale = scale});
  layer.input_absmax = reader.numbers("input_absmax");
  return layer;
}

}  // namespace

std::string plan_to_json(const QuantPlan& plan) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::object();
  for (const LayerPlan& layer : plan.layers) {
    auto& object = layers[layer.name] = nlohmann::ordered_json::object();
    object["weights"] = to_string(layer.weights);
    object["acts"] = to_string(layer.acts);
    if (layer.sharing != ScaleSharing::All) object["sharing"] = to_string(layer.sharing);
    if (layer.bias != BiasPrecision::Float) object["bias"] = to_string(layer.bias);
    if (layer.smooth) object["smooth"] = *layer.smooth;
    if (layer.hadamard) object["hadamard"] = true;
    if (layer.delta) object["delta"] = true;
    for (const Scale& scale : layer.scales) object["scales"].push_back(scale.scale);
    const bool has_zeros = std::any_of(layer.scales.begin(), layer.scales.end(),
                                       [](const Scale& scale) { return scale.zero != 0; });
    for (size_t i = 0; has_zeros && i < layer.scales.size(); ++i)
      object["zeros"].push_back(layer.scales[i].zero);
    for (const Scale& scale : layer.weight_scales) object["weight_scales"].push_back(scale.scale);
    if (!layer.input_absmax.empty()) object["input_absmax"] = layer.input_absmax;
  }
  nlohmann::ordered_json object = {{"version", kVersion}};
  if (plan.attention != AttentionPrecision::Float) object["attention"] = to_string(plan.attention);
  object["layers"] = std::move(layers);
  return object.dump(2) + "\n";
}

QuantPlan plan_from_json(std::string_view text, std::string_view where) {
  const Json object = parse_json(text, where, ErrorCode::BadConfig);
  require_keys(object, kPlanKeys, where);
  const Reader reader{object, std::string(where)};
  for (const std::string_view key : kRequiredKeys)
    DRIFTLESS_REQUIRE(object.contains(key), ErrorCode::BadConfig, where, ": missing key '", key,
                      "'");
  const Json& version = object.at("version");
  reader.require(version == kVersion, "version", version, std::to_string(kVersion));
  const Json& layers = object.at("layers");
  reader.require(layers.is_object(), "layers", layers, "an object with a key for each layer");
  QuantPlan plan{
      .attention = reader.word("attention", AttentionPrecision::Float, parse_attention_precision)};
  plan.layers.reserve(layers.size());
  for (const auto& [name, layer] : layers.items())
    plan.layers.push_back(layer_from(name, layer, where));
  return plan;
}

}  // namespace driftless::quant
