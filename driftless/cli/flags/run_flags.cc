// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/flags/run_flags.h"

#include <string>
#include <vector>

#include "driftless/base/thread_pool.h"
#include "driftless/cli/terminal/watch.h"
#include "driftless/quant/plan/scheme.h"
#include "driftless/reason/halting.h"
#include "driftless/simulate/dtype.h"

namespace driftless::cli {

void add_threads_flag(const Verb& verb, int64_t& threads) {
  verb.add_option("--threads", threads, "threads")
      .between(1, static_cast<double>(ThreadPool::kMostThreads))
      .or_environment("DRIFTLESS_THREADS")
      .shows_default();
}

void add_dtype_flag(const Verb& verb, std::string& dtype) {
  verb.add_option("--dtype", dtype, "type of activations")
      .one_of(names_of(simulate::kDtypeNames))
      .shows_default();
}

void add_halting_flag(const Verb& verb, std::string& halting) {
  verb.add_option("--halting", halting,
                  "when a board is done: after all steps, when the model "
                  "says so, or when its answer stays the same")
      .one_of(names_of(reason::halting_policies()))
      .shows_default();
}

void add_device_flags(const Verb& verb, run::BackendOptions& options) {
  const Flag device =
      verb.add_option("--device", options.device,
                      "native multiplies integers; cpu-torch and cuda need libtorch")
          .one_of(names_of(run::devices()))
          .shows_default();
  verb.add_switch(
          "--native", [&options] { options.device = "native"; },
          "multiply integers instead of simulating them; mx quantizers get window=4")
      .excludes(device);
  add_dtype_flag(verb, options.dtype);
  add_threads_flag(verb, options.threads);
}

void add_backend_flags(const Verb& verb, run::BackendOptions& options) {
  add_device_flags(verb, options);
  const Flag batch =
      verb.add_option("--batch", options.slots, "boards at a time (default: by device)").positive();
  verb.accepts_old("--slots", batch);
}

void add_calibration_flags(const Verb& verb, run::CalibrationOptions& options) {
  constexpr const char* kGroup = "Calibration";
  options.watch = watch_calibration;
  verb.add_input("--calibration-data", options.data,
                 "boards for static scales and smoothing (default: of the task's generator)")
      .group(kGroup);
  verb.add_option("--calibration-boards", options.boards,
                  "draw this many of them (default: " + std::to_string(run::kCalibrationBoards) +
                      ", or all of a file that has fewer)")
      .positive()
      .group(kGroup);
  verb.add_option("--calibration-seed", options.seed,
                  "of the draw (default: " + std::to_string(study::kCalibrationSeed) + ")")
      .between(0, 1e9)
      .group(kGroup);
  verb.add_switch("--calibration-may-overlap", options.may_overlap,
                  "draw boards that are scored too, which flatters static scales")
      .group(kGroup);
}

void add_scheme_flags(const Verb& verb, run::SchemeText& scheme) {
  constexpr const char* kGroup = "Quantization";
  const auto add = [&](const char* name, auto& value, const char* help) {
    return verb.add_option(name, value, help).group(kGroup);
  };
  const std::vector<Flag> pair = {
      add("--weights", scheme.weights, "quantizer of weights, e.g. mxint4 or int4/channel")
          .shows_default(),
      add("--acts", scheme.acts, "quantizer of activations, e.g. mxint4 or int4/token")
          .shows_default(),
      add("--coverage", scheme.coverage, "block: the recursive block; linear: heads too")
          .one_of(names_of(quant::kCoverages))
          .shows_default(),
      add("--bias", scheme.bias, "biases of covered layers")
          .one_of(names_of(quant::kBiasPrecisions))
          .shows_default(),
      add("--scales", scheme.scales, "calls that share a static scale")
          .one_of(names_of(quant::kScaleSharings))
          .shows_default(),
      add("--smooth", scheme.smooth, "SmoothQuant with this strength, 0 to 1"),
      verb.add_switch("--hadamard", scheme.hadamard, "rotate inputs and weights").group(kGroup),
      verb.add_switch("--delta", scheme.delta, "quantize what inputs change by from call to call")
          .group(kGroup),
      add("--attention", scheme.attention, "scores and values of attention")
          .one_of(names_of(quant::kAttentionPrecisions))
          .shows_default()};
  const Flag plan =
      verb.add_input("--plan", scheme.plan, "a plan per layer (JSON) instead of the above")
          .group(kGroup);
  for (const Flag& flag : pair) plan.excludes(flag);
  add_calibration_flags(verb, scheme.calibration);
}

void add_scheme_row_flags(const Verb& verb, run::SchemeRows& rows) {
  verb.add_option("--schemes", rows.schemes,
                  "quantizers for weights and activations, or WEIGHTS:ACTIVATIONS")
      .refuses_files()
      .shows_default();
  verb.add_option("--coverage", rows.coverage, "block: the recursive block; linear: heads too")
      .one_of(names_of(quant::kCoverages))
      .shows_default();
  verb.add_option("--attention", rows.attention, "scores and values of attention in quantized rows")
      .one_of(names_of(quant::kAttentionPrecisions))
      .shows_default();
  verb.add_option("--steps", rows.steps, "supervision steps (default: the model's)").positive();
}

void add_study_flags(const Verb& verb, run::StudyOptions& options) {
  verb.add_option("--limit", options.limit, "take only the first N boards").positive();
  verb.add_input("--identifiers", options.arc.identifiers,
                 "ARC: JSON list that names the rows of the model's puzzle table (default: "
                 "identifiers.json beside the model)");
  verb.add_option("--variants", options.arc.variants,
                  "ARC: ask about at most N variants of each test input (default: all)")
      .positive();
  add_device_flags(verb, options.backend);
  verb.add_option("--batch", options.batch,
                  "boards at a time, which bound the memory (default: by device)")
      .positive();
  verb.add_option("--seed", options.seed, "of random states, noise and perturbations")
      .shows_default();
}

}  // namespace driftless::cli
