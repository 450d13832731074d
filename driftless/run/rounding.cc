// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/rounding.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "driftless/quant/feedback/feedback.h"
#include "driftless/quant/plan/planned_layer.h"
#include "driftless/reason/moments.h"

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

Rounding parse_rounding(std::string_view name) {
  return parse_enum(kRoundings, name, "--method", ErrorCode::InvalidArgument);
}

store::PackedModel pack(const store::Checkpoint& checkpoint, const PlannedScheme& scheme,
                        Rounding rounding, const BackendOptions& backend,
                        const CalibrationOptions& calibration) {
  if (rounding == Rounding::Nearest) {
    store::PackedModel packed = store::pack_model(checkpoint, scheme.plan);
    packed.calibration = scheme.calibration;
    return packed;
  }
  const auto exact =
      rounding == Rounding::ExactFeedback ? reason::Exact::Crossed : reason::Exact::Ignored;
  const SeenMoments seen = see_moments(checkpoint, scheme.plan, exact, backend, calibration);
  std::map<double, int64_t> damping;
  int64_t unseen = 0;
  const auto round = [&](const quant::LayerPlan& layer, quant::ConstMat weight) {
    quant::FeedbackResult result = quant::quantize_with_feedback(
        quant::weight_quantizer(layer), weight, seen.moments.at(layer.name), backend.threads);
    ++damping[result.damping];
    unseen += result.unseen;
    return std::move(result.matrix);
  };
  store::PackedModel packed = store::pack_model(checkpoint, scheme.plan, round);
  packed.calibration = scheme.calibration;
  packed.method = std::string(enum_name(kRoundings, rounding)) + ": second moments of " +
                  seen.boards + "; " + damping_text(damping);
  if (unseen > 0) packed.method += "; " + std::to_string(unseen) + " inputs were always zero";
  return packed;
}

}  // namespace driftless::run
