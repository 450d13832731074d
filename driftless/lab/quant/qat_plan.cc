// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/qat_plan.h"

#include <algorithm>
#include <array>
#include <span>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/text.h"
#include "driftless/lab/quant/fake_quant.h"
#include "driftless/lab/quant/learned_rounding.h"
#include "driftless/model/schedule.h"
#include "driftless/quant/plan/plan_json.h"
#include "driftless/reason/plan/linear_layers.h"

namespace driftless::lab {
namespace {

using quant::Granularity;
using quant::LayerPlan;
using quant::QuantSpec;
using quant::Source;

constexpr std::string_view kLsq = "lsq";
constexpr std::string_view kRound = "round";
constexpr std::array<std::string_view, 2> kActMethods = {"naive", kLsq};
constexpr std::array<std::string_view, 3> kWeightMethods = {"naive", kLsq, kRound};

/// parse(text) with errors that say where.
template <class Parse>
auto parsed(const std::string& text, std::string_view key, std::string_view where, Parse parse) {
  try {
    return parse(text);
  } catch (const Error& error) {
    fail(ErrorCode::BadConfig, where, ": quant.", key, ": ", error.what());
  }
}

void require_method(const std::string& text, std::span<const std::string_view> methods,
                    std::string_view key, std::string_view where) {
  DRIFTLESS_REQUIRE(std::find(methods.begin(), methods.end(), text) != methods.end(),
                    ErrorCode::BadConfig, where, ": quant.", key, "; got '", text,
                    "', expected one of ", join(methods, ", "), did_you_mean(text, methods));
}

quant::Scheme scheme_of(const QuantRecipe& recipe, std::string_view where) {
  return {.weights = parsed(recipe.weights, "weights", where, quant::parse_quant_spec),
          .acts = parsed(recipe.acts, "acts", where, quant::parse_quant_spec),
          .coverage = parsed(recipe.coverage, "coverage", where, quant::parse_coverage),
          .bias = parsed(recipe.bias, "bias", where, quant::parse_bias_precision),
          .sharing = recipe.iteration_norm ? quant::ScaleSharing::Call : quant::ScaleSharing::All};
}

/// Activations with learned scales start where the squared error is least.
void make_learned(QuantSpec& spec) {
  spec.source = Source::Static;
  spec.calibration = {.kind = quant::Calibration::Kind::Mse};
}

quant::QuantPlan planned_layers(const Recipe& recipe, const std::filesystem::path& folder,
                                std::span<const quant::LinearLayer> layers) {
  const QuantRecipe& asked = recipe.quant;
  if (asked.plan.empty())
    return parsed(asked.weights, "bias", "recipe",
                  [&](const auto&) { return quant::resolve(scheme_of(asked, "recipe"), layers); });
  const std::filesystem::path path = folder / asked.plan;
  quant::QuantPlan plan = quant::plan_from_json(read_text(path), path.string());
  quant::require_fits(plan, layers, std::ssize(model::schedule(recipe.model)), path.string());
  DRIFTLESS_REQUIRE(plan.attention == quant::AttentionPrecision::Float, ErrorCode::BadConfig,
                    path.string(), ": attention; got ", to_string(plan.attention),
                    ", expected none: its codes have no gradient rule");
  for (LayerPlan& layer : plan.layers) {
    DRIFTLESS_REQUIRE(!layer.smooth && !layer.hadamard && !layer.delta, ErrorCode::BadConfig,
                      path.string(), ": layer '", layer.name,
                      "': smoothing, rotations and delta have no gradient rule; expected none");
    DRIFTLESS_REQUIRE(layer.scales.empty() && layer.weight_scales.empty(), ErrorCode::BadConfig,
                      path.string(), ": layer '", layer.name,
                      "': has scales; expected none, the run finds them");
    if (asked.iteration_norm) layer.sharing = quant::ScaleSharing::Call;
  }
  return plan;
}

}  // namespace

void require_valid(const Recipe& recipe, std::string_view where) {
  const QuantRecipe& asked = recipe.quant;
  require_method(asked.weight_method, kWeightMethods, "weight_method", where);
  require_method(asked.act_method, kActMethods, "act_method", where);
  const quant::Scheme scheme = scheme_of(asked, where);
  const auto require = [&](bool is_fine, const char* message) {
    DRIFTLESS_REQUIRE(is_fine, ErrorCode::BadConfig, where, ": quant", message);
  };
  const bool has_pair = !scheme.weights.is_none() || !scheme.acts.is_none();
  require(asked.plan.empty() || (!has_pair && asked.coverage == QuantRecipe{}.coverage &&
                                 asked.bias == QuantRecipe{}.bias),
          ".plan: excludes weights, acts, coverage and bias; expected one or the other");
  require(!asked.plan.empty() || has_pair,
          ": nothing is quantized; expected weights, acts or a plan");
  const std::string place(where);
  if (asked.plan.empty() && asked.weight_method == kLsq)
    require_learnable(scheme.weights, place + ": quant.weights");
  if (asked.plan.empty() && asked.act_method == kLsq) {
    require_learnable(scheme.acts, place + ": quant.acts");
    require(scheme.acts.granularity == Granularity::Tensor,
            ".acts: lsq learns one scale per tensor of activations; expected such as int4/tensor");
  }
  require(!asked.iteration_norm || !asked.plan.empty() || asked.act_method == kLsq ||
              scheme.acts.source == Source::Static,
          ".iteration_norm: needs static scales; expected acts such as int4/tensor/static or "
          "act_method lsq");
  require(!asked.iteration_norm || recipe.stages.empty(),
          ".iteration_norm: has a scale for each call; expected no recursion.stage");
  require(asked.distill == 0 || !model::architecture(recipe.model).draws_noise(),
          ".distill: the model draws noise, so there is no float trajectory to follow; expected 0");
  require(
      asked.distill > 0 || (asked.labels && !asked.distill_local && asked.weight_method != kRound),
      ".distill: is 0; weight_method round, labels = false and distill_local need it above 0");
  if (asked.plan.empty() && asked.weight_method == kRound)
    require_roundable(scheme.weights, place + ": quant.weights");
}

QatPlan qat_plan(const Recipe& recipe, const std::filesystem::path& folder) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(recipe.model);
  QatPlan qat{planned_layers(recipe, folder, layers), recipe.quant.weight_method == kLsq,
              recipe.quant.act_method == kLsq, recipe.quant.weight_method == kRound};
  for (LayerPlan& layer : qat.plan.layers) {
    const std::string where = "quant: layer '" + layer.name + "'";
    if (qat.learns_weights && !layer.weights.is_none()) {
      require_learnable(layer.weights, where);
      layer.weights.source = Source::Static;
      layer.weights.calibration = {};
    }
    if (qat.learns_rounding && !layer.weights.is_none()) require_roundable(layer.weights, where);
    if (qat.learns_acts && !layer.acts.is_none()) {
      require_learnable(layer.acts, where);
      make_learned(layer.acts);
    }
    DRIFTLESS_REQUIRE(!layer.needs_scales() || !quant::is_asymmetric(layer.acts.format->element),
                      ErrorCode::BadConfig, where, ": static scales of '", to_string(layer.acts),
                      "' have zero points; expected a symmetric format");
    const bool has_integer_bias = layer.bias != quant::BiasPrecision::Float;
    DRIFTLESS_REQUIRE(!has_integer_bias || layer.weights.is_none() ||
                          layer.weights.calibration == quant::Calibration{},
                      ErrorCode::BadConfig, where,
                      ": an integer bias needs weight scales by absmax or lsq; got '",
                      to_string(layer.weights), "'");
  }
  return qat;
}

std::vector<ScaleSlot> scale_slots(const QatPlan& qat, const model::ModelConfig& config) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(config);
  const int64_t calls = std::ssize(model::schedule(config));
  std::vector<ScaleSlot> slots;
  slots.reserve(qat.plan.layers.size());
  int64_t next = 0;
  for (size_t i = 0; i < qat.plan.layers.size(); ++i) {
    const LayerPlan& planned = qat.plan.layers[i];
    const auto layer = std::find_if(layers.begin(), layers.end(), [&](const auto& candidate) {
      return candidate.name == planned.name;
    });
    ScaleSlot slot{i, next, 0, 0, 0};
    if (planned.weights.source == Source::Static)
      slot.weight_count = planned.weights.granularity == Granularity::Channel ? layer->outputs : 1;
    slot.act_begin = next + slot.weight_count;
    if (planned.needs_scales())
      slot.act_count = planned.sharing == quant::ScaleSharing::All ? 1 : calls;
    next = slot.act_begin + slot.act_count;
    slots.push_back(slot);
  }
  return slots;
}

int64_t scale_count(const std::vector<ScaleSlot>& slots) {
  return slots.empty() ? 0 : slots.back().act_begin + slots.back().act_count;
}

}  // namespace driftless::lab
