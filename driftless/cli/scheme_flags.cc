// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/scheme_flags.h"

#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/file.h"
#include "driftless/cli/board_files.h"
#include "driftless/cli/model_input.h"
#include "driftless/model/schedule.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/plan/plan_json.h"
#include "driftless/reason/linear_layers.h"

namespace driftless::cli {
namespace {

quant::QuantPlan uncalibrated_plan(const SchemeFlags& flags, const store::Checkpoint& checkpoint,
                                   std::span<const quant::LinearLayer> layers) {
  if (flags.plan.empty())
    return quant::resolve({.weights = quant::parse_quant_spec(flags.weights),
                           .acts = quant::parse_quant_spec(flags.acts),
                           .coverage = quant::parse_coverage(flags.coverage),
                           .bias = quant::parse_bias_precision(flags.bias),
                           .sharing = quant::parse_scale_sharing(flags.scales),
                           .smooth = flags.smooth,
                           .hadamard = flags.hadamard,
                           .attention = quant::parse_attention_precision(flags.attention)},
                          layers);
  const std::vector<std::byte> bytes = read_file(flags.plan);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  quant::QuantPlan plan = quant::plan_from_json(text, flags.plan);
  const int64_t calls = std::ssize(model::schedule(checkpoint.config));
  quant::require_fits(plan, layers, calls, flags.plan);
  return plan;
}

/// Draws the boards and calibrates; returns what was done, for results.
std::string calibrate(const CalibrationFlags& flags, const store::Checkpoint& checkpoint,
                      const BackendOptions& backend, std::span<const task::Example> scored,
                      quant::QuantPlan& plan) {
  const task::Task& task = task_of(checkpoint);
  std::vector<task::Example> file;
  if (!flags.data.empty()) file = read_boards(task, {.path = flags.data});
  require_fits(checkpoint, file, flags.data);
  CalibrationBoards source(flags, {.task = task,
                                   .cells = checkpoint.config.seq_len,
                                   .file = std::move(file),
                                   .scored = scored});
  const int64_t count = flags.boards > 0 ? flags.boards : source.usual_count();
  const auto seed = static_cast<uint64_t>(flags.seed.value_or(study::kCalibrationSeed));
  calibrate(checkpoint, backend, source.draw(count, seed), std::span(&plan, 1));
  return source.describe(count, seed);
}

}  // namespace

void add_scheme_flags(const Verb& verb, SchemeFlags& flags) {
  constexpr const char* kGroup = "Quantization";
  const auto add = [&](const char* name, auto& value, const char* help) {
    return verb.add_option(name, value, help).group(kGroup);
  };
  const std::vector<Flag> scheme = {
      add("--weights", flags.weights, "quantizer of weights, e.g. mxint4 or int4/channel")
          .shows_default(),
      add("--acts", flags.acts, "quantizer of activations, e.g. mxint4 or int4/token")
          .shows_default(),
      add("--coverage", flags.coverage, "block: the recursive block; linear: heads too")
          .shows_default(),
      add("--bias", flags.bias, "biases of covered layers: float, int16 or int32").shows_default(),
      add("--scales", flags.scales, "calls that share a static scale: all, role or call")
          .shows_default(),
      add("--smooth", flags.smooth, "SmoothQuant with this strength, 0 to 1"),
      verb.add_switch("--hadamard", flags.hadamard, "rotate inputs and weights").group(kGroup),
      add("--attention", flags.attention, "scores and values of attention: none or int8")
          .shows_default()};
  const Flag plan =
      verb.add_input("--plan", flags.plan, "a plan per layer (JSON) instead of the above")
          .group(kGroup);
  for (const Flag& flag : scheme) plan.excludes(flag);
  add_calibration_flags(verb, flags.calibration);
}

PlannedScheme planned_scheme(const SchemeFlags& flags, const store::Checkpoint& checkpoint,
                             const BackendOptions& backend, std::span<const task::Example> scored) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(checkpoint.config);
  PlannedScheme result;
  result.plan = uncalibrated_plan(flags, checkpoint, layers);
  require_device(backend);
  if (backend.device == "native") {
    DRIFTLESS_REQUIRE(!result.plan.layers.empty(), ErrorCode::InvalidArgument,
                      "--native: nothing is quantized; expected a packed model, or --weights and "
                      "--acts, such as mxint4");
    result.plan = native::with_windows(std::move(result.plan));
  }
  result.text = quant::describe(result.plan, layers);
  if (result.plan.needs_calibration())
    result.calibration = calibrate(flags.calibration, checkpoint, backend, scored, result.plan);
  return result;
}

PlannedScheme planned_scheme(const SchemeFlags& flags, const ModelFile& model,
                             const BackendOptions& backend, std::span<const task::Example> scored) {
  if (!model.packed) return planned_scheme(flags, model.checkpoint, backend, scored);
  const bool asks_for_more = flags.weights != "none" || flags.acts != "none" ||
                             flags.attention != "none" || !flags.plan.empty();
  DRIFTLESS_REQUIRE(
      !asks_for_more, ErrorCode::InvalidArgument,
      "--weights, --acts, --attention, --plan: the packed model is quantized already; "
      "expected its source for another scheme");
  return {.plan = model.packed->plan,
          .text = quant::describe(model.packed->plan, reason::linear_layers(model.packed->config)),
          .calibration = model.packed->calibration};
}

}  // namespace driftless::cli
