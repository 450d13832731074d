// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/scheme.h"

#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/model/schedule.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/plan/plan_json.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/run/boards.h"
#include "driftless/run/model.h"

namespace driftless::run {
namespace {

quant::QuantPlan uncalibrated_plan(const SchemeText& scheme, const store::Checkpoint& checkpoint,
                                   std::span<const quant::LinearLayer> layers) {
  if (scheme.plan.empty())
    return quant::resolve({.weights = quant::parse_quant_spec(scheme.weights),
                           .acts = quant::parse_quant_spec(scheme.acts),
                           .coverage = quant::parse_coverage(scheme.coverage),
                           .bias = quant::parse_bias_precision(scheme.bias),
                           .sharing = quant::parse_scale_sharing(scheme.scales),
                           .smooth = scheme.smooth,
                           .hadamard = scheme.hadamard,
                           .delta = scheme.delta,
                           .attention = quant::parse_attention_precision(scheme.attention)},
                          layers);
  quant::QuantPlan plan = quant::plan_from_json(read_text(scheme.plan), scheme.plan);
  const int64_t calls = std::ssize(model::schedule(checkpoint.config));
  quant::require_fits(plan, layers, calls, scheme.plan);
  return plan;
}

}  // namespace

CalibrationBoards calibration_source(const CalibrationOptions& options,
                                     const store::Checkpoint& checkpoint,
                                     std::span<const task::Example> scored) {
  const task::Task& task = task_of(checkpoint);
  std::vector<task::Example> file;
  if (!options.data.empty()) file = read_boards(task, {.path = options.data});
  require_fits(checkpoint, file, options.data);
  return {options,
          {.task = task,
           .cells = checkpoint.config.seq_len,
           .file = std::move(file),
           .scored = scored}};
}

SchemeText packing_scheme(SchemeText scheme) {
  if (!scheme.plan.empty()) return scheme;
  DRIFTLESS_REQUIRE(scheme.weights != "none", ErrorCode::InvalidArgument,
                    "quantize: nothing to pack; expected --weights, such as mxint4, or --plan");
  if (scheme.acts == "none" && scheme.weights.starts_with("mx")) scheme.acts = scheme.weights;
  return scheme;
}

PlannedScheme planned_scheme(const SchemeText& scheme, const store::Checkpoint& checkpoint,
                             const BackendOptions& backend, std::span<const task::Example> scored) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(checkpoint.config);
  PlannedScheme result;
  result.plan = uncalibrated_plan(scheme, checkpoint, layers);
  if (find_device(backend.device).execution == study::Execution::Native) {
    DRIFTLESS_REQUIRE(!result.plan.layers.empty(), ErrorCode::InvalidArgument,
                      "--native: nothing is quantized; expected a packed model, which 'driftless "
                      "quantize' makes, or --weights and --acts, such as mxint4");
    result.plan = native::with_windows(std::move(result.plan));
  }
  result.text = quant::describe(result.plan, layers);
  if (!result.plan.needs_calibration()) return result;
  const CalibrationOptions& options = scheme.calibration;
  CalibrationBoards source = calibration_source(options, checkpoint, scored);
  const int64_t count = options.boards > 0 ? options.boards : source.usual_count();
  const auto seed = static_cast<uint64_t>(options.seed.value_or(study::kCalibrationSeed));
  calibrate(checkpoint, backend, options, source.draw(count, seed), std::span(&result.plan, 1));
  result.calibration = source.describe(count, seed);
  return result;
}

PlannedScheme planned_scheme(const SchemeText& scheme, const store::ModelFile& model,
                             const BackendOptions& backend, std::span<const task::Example> scored) {
  if (!model.packed) return planned_scheme(scheme, model.checkpoint, backend, scored);
  const bool asks_for_more = scheme.weights != "none" || scheme.acts != "none" ||
                             scheme.attention != "none" || !scheme.plan.empty();
  DRIFTLESS_REQUIRE(
      !asks_for_more, ErrorCode::InvalidArgument,
      "--weights, --acts, --attention, --plan: the packed model is quantized already; "
      "expected its source for another scheme");
  return {.plan = model.packed->plan,
          .text = quant::describe(model.packed->plan, reason::linear_layers(model.packed->config)),
          .calibration = model.packed->calibration};
}

}  // namespace driftless::run
