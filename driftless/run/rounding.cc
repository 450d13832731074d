// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/rounding.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/quant/feedback/feedback.h"
#include "driftless/quant/plan/planned_layer.h"
#include "driftless/quant/scale/fit.h"
#include "driftless/reason/plan/moments.h"

namespace driftless::run {
namespace {

/// The plan as the method wants it.
quant::QuantPlan with_method(quant::QuantPlan plan, const Method& method) {
  if (!method.clips) return plan;
  for (quant::LayerPlan& layer : plan.layers) {
    if (layer.weights.is_none()) continue;
    const bool has_rule = layer.weights.has_scale_codes() ||
                          layer.weights.format->scaling == formats::Scaling::PowerOfTwo;
    DRIFTLESS_REQUIRE(has_rule, ErrorCode::InvalidArgument, "--method clip: layer '", layer.name,
                      "' has weights ", to_string(layer.weights),
                      "; expected an mx format or blocks with scale=; others have calib=mse");
    layer.weights.rule = formats::ExponentRule::Mse;
  }
  return plan;
}

quant::QuantizedMatrix fit(const quant::LayerPlan& layer, quant::ConstMat weight) {
  DRIFTLESS_REQUIRE(layer.weights.has_scale_codes(), ErrorCode::InvalidArgument,
                    "--method fit: layer '", layer.name, "'; got weights ",
                    to_string(layer.weights),
                    ", expected blocks with scale=, such as int4/block32,scale=e5m3");
  return quant::quantize_by_fit(quant::weight_quantizer(layer), weight);
}

/// "damping 0.01", or how many layers took which.
std::string damping_text(const std::map<double, int64_t>& layers) {
  std::ostringstream text;
  text << "damping ";
  for (auto it = layers.begin(); it != layers.end(); ++it) {
    text << (it == layers.begin() ? "" : " | ") << it->first;
    if (layers.size() > 1) text << " x " << it->second;
  }
  return text.str();
}

}  // namespace

Method parse_method(std::string_view name) {
  const auto* const found =
      std::find_if(kMethods.begin(), kMethods.end(),
                   [&](const NamedMethod& method) { return method.name == name; });
  if (found != kMethods.end()) return found->method;
  const std::vector<std::string> known = all_methods();
  const std::vector<std::string_view> names(known.begin(), known.end());
  fail(ErrorCode::InvalidArgument, "--method: unknown; got '", name, "', expected one of ",
       join(names, " | "), did_you_mean(name, names));
}

std::string to_string(const Method& method) {
  const auto* const found =
      std::find_if(kMethods.begin(), kMethods.end(),
                   [&](const NamedMethod& named) { return named.method == method; });
  DRIFTLESS_REQUIRE(found != kMethods.end(), ErrorCode::Internal, "--method: a method has no name");
  return std::string(found->name);
}

std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  names.reserve(kMethods.size());
  for (const NamedMethod& method : kMethods) names.emplace_back(method.name);
  return names;
}

Packer::Packer(const store::Checkpoint& checkpoint, const BackendOptions& backend,
               const CalibrationOptions& calibration)
    : checkpoint_(checkpoint), backend_(backend), calibration_(calibration) {}

void Packer::see_under(const quant::QuantPlan& plan) {
  seen_under_ = plan;
  seen_.clear();
  std::erase_if(rounded_, [](const auto& entry) { return entry.second.damping.has_value(); });
}

Packer::Seen Packer::see(reason::Exact exact) const {
  CalibrationBoards source = calibration_source(calibration_, checkpoint_, {});
  const int64_t count =
      calibration_.boards > 0 ? calibration_.boards : std::min(kMomentBoards, source.usual_count());
  const auto seed = static_cast<uint64_t>(calibration_.seed.value_or(study::kCalibrationSeed));
  const auto boards = source.draw(count, seed);
  BackendOptions each = simulating(backend_);
  const int64_t threads = find_device(each.device).calibrates_by_thread ? each.threads : 1;
  if (find_device(each.device).calibrates_by_thread) each.threads = each.slots = 1;
  const auto make = [&](const quant::QuantPlan* followed) {
    return make_reasoner(checkpoint_, followed ? *followed : quant::QuantPlan{}, each);
  };
  return {reason::input_moments(make, boards, seen_under_, exact, threads,
                                calibration_.watch ? calibration_.watch(count) : reason::OnBoard()),
          source.describe(count, seed)};
}

const Packer::Seen& Packer::seen(reason::Exact exact) {
  const auto found = seen_.find(exact);
  return found != seen_.end() ? found->second : seen_.emplace(exact, see(exact)).first->second;
}

Packer::Rounded Packer::round(const quant::LayerPlan& layer, quant::ConstMat weight,
                              Rounding rounding) {
  if (rounding == Rounding::Nearest) return {.matrix = store::round_to_nearest(layer, weight)};
  if (rounding == Rounding::Fit) return {.matrix = fit(layer, weight)};
  const auto exact =
      rounding == Rounding::ExactFeedback ? reason::Exact::Crossed : reason::Exact::Ignored;
  quant::FeedbackResult result = quant::quantize_with_feedback(
      quant::weight_quantizer(layer), weight, seen(exact).moments.at(layer.name),
      rounding == Rounding::Descent ? quant::Then::Descent : quant::Then::Nothing,
      backend_.threads);
  return {std::move(result.matrix), result.damping, result.unseen};
}

store::PackedModel Packer::pack(const quant::QuantPlan& plan, std::span<const Rounding> roundings) {
  std::map<double, int64_t> damping;
  int64_t unseen = 0;
  const auto round_layer = [&](const quant::LayerPlan& layer, quant::ConstMat weight) {
    const Rounding rounding =
        roundings[static_cast<size_t>(plan.find(layer.name) - &plan.layers[0])];
    const std::string key =
        layer.name + " " + to_string(layer.weights) + " " + to_string(Method{.rounding = rounding});
    auto found = rounded_.find(key);
    if (found == rounded_.end())
      found = rounded_.emplace(key, round(layer, weight, rounding)).first;
    if (found->second.damping) ++damping[*found->second.damping];
    unseen += found->second.unseen;
    return found->second.matrix;
  };
  store::PackedModel packed = store::pack_model(checkpoint_, plan, round_layer);
  note_.clear();
  if (damping.empty()) return packed;
  note_ = "second moments of " + seen_.begin()->second.boards + "; " + damping_text(damping);
  if (unseen > 0) note_ += "; " + std::to_string(unseen) + " inputs were always zero";
  return packed;
}

store::PackedModel pack(const store::Checkpoint& checkpoint, const PlannedScheme& scheme,
                        const Method& method, const BackendOptions& backend,
                        const CalibrationOptions& calibration) {
  const quant::QuantPlan plan = with_method(scheme.plan, method);
  Packer packer(checkpoint, backend, calibration);
  packer.see_under(plan);
  store::PackedModel packed =
      packer.pack(plan, std::vector<Rounding>(plan.layers.size(), method.rounding));
  packed.calibration = scheme.calibration;
  if (method != Method{}) packed.method = to_string(method);
  if (!packer.note().empty()) packed.method += ": " + packer.note();
  return packed;
}

}  // namespace driftless::run
