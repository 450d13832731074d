// SPDX-License-Identifier: Apache-2.0
// The flags that say how a model is quantized, and the plan that they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "driftless/cli/backend.h"
#include "driftless/cli/calibration.h"
#include "driftless/cli/flags/flags.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/store/checkpoint.h"

namespace driftless::cli {

struct SchemeFlags {
  std::string weights = "none";
  std::string acts = "none";
  std::string coverage = "block";
  std::string bias = "float";
  std::string scales = "all";
  std::optional<double> smooth;
  bool hadamard = false;
  std::string attention = "none";
  std::string plan;
  CalibrationFlags calibration{};
};

void add_scheme_flags(const Verb& verb, SchemeFlags& flags);

/// What the flags come to for one model.
struct PlannedScheme {
  quant::QuantPlan plan;
  std::string text;         // the resolved pair and coverage, for every result
  std::string calibration;  // "200 boards of FILE, seed 1", or empty
};

/// The plan of the file or of the scheme, calibrated on the drawn boards where it needs to be, on
/// the backend that will run it; `scored` are the boards that it will be scored on. Throws what
/// CalibrationBoards, require_device, reading, resolving and calibrating throw.
PlannedScheme planned_scheme(const SchemeFlags& flags, const store::Checkpoint& checkpoint,
                             const BackendOptions& backend, std::span<const task::Example> scored);

/// The same for a model file of either kind. A packed model brings its plan; throws InvalidArgument
/// where the flags ask for another one.
PlannedScheme planned_scheme(const SchemeFlags& flags, const ModelFile& model,
                             const BackendOptions& backend, std::span<const task::Example> scored);

}  // namespace driftless::cli
