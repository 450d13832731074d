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

struct SeenMoments {
  reason::Moments moments;
  std::string boards;
};

SeenMoments see_moments(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                        reason::Exact exact, const BackendOptions& backend,
                        const CalibrationOptions& options) {
  CalibrationBoards source = calibration_source(options, checkpoint, {});
  const int64_t count =
      options.boards > 0 ? options.boards : std::min(kMomentBoards, source.usual_count());
  const auto seed = static_cast<uint64_t>(options.seed.value_or(study::kCalibrationSeed));
  const auto boards = source.draw(count, seed);
  BackendOptions each = simulating(backend);
  const int64_t threads = find_device(each.device).calibrates_by_thread ? each.threads : 1;
  if (find_device(each.device).calibrates_by_thread) each.threads = each.slots = 1;
  const auto make = [&](const quant::QuantPlan* followed) {
    return make_reasoner(checkpoint, followed ? *followed : quant::QuantPlan{}, each);
  };
  return {reason::input_moments(make, boards, plan, exact, threads,
                                options.watch ? options.watch(count) : reason::OnBoard()),
          source.describe(count, seed)};
}

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

store::PackedModel pack(const store::Checkpoint& checkpoint, const PlannedScheme& scheme,
                        const Method& method, const BackendOptions& backend,
                        const CalibrationOptions& calibration) {
  const quant::QuantPlan plan = with_method(scheme.plan, method);
  if (method.rounding == Rounding::Nearest || method.rounding == Rounding::Fit) {
    store::PackedModel packed = method.rounding == Rounding::Fit
                                    ? store::pack_model(checkpoint, plan, fit)
                                    : store::pack_model(checkpoint, plan);
    packed.calibration = scheme.calibration;
    if (method != Method{}) packed.method = to_string(method);
    return packed;
  }
  const auto exact =
      method.rounding == Rounding::ExactFeedback ? reason::Exact::Crossed : reason::Exact::Ignored;
  const SeenMoments seen = see_moments(checkpoint, plan, exact, backend, calibration);
  std::map<double, int64_t> damping;
  int64_t unseen = 0;
  const auto round = [&](const quant::LayerPlan& layer, quant::ConstMat weight) {
    quant::FeedbackResult result = quant::quantize_with_feedback(
        quant::weight_quantizer(layer), weight, seen.moments.at(layer.name), backend.threads);
    ++damping[result.damping];
    unseen += result.unseen;
    return std::move(result.matrix);
  };
  store::PackedModel packed = store::pack_model(checkpoint, plan, round);
  packed.calibration = scheme.calibration;
  packed.method =
      to_string(method) + ": second moments of " + seen.boards + "; " + damping_text(damping);
  if (unseen > 0) packed.method += "; " + std::to_string(unseen) + " inputs were always zero";
  return packed;
}

}  // namespace driftless::run
