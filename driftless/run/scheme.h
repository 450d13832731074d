// SPDX-License-Identifier: Apache-2.0
// How a model is quantized, as texts say it, and the plan that they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "driftless/quant/plan/plan.h"
#include "driftless/run/backend.h"
#include "driftless/run/calibration.h"
#include "driftless/store/model_file.h"

namespace driftless::run {

/// Texts as quant/spec.h and quant/plan/scheme.h define them.
struct SchemeText {
  std::string weights = "none";
  std::string acts = "none";
  std::string coverage = "block";
  std::string bias = "float";
  std::string scales = "all";
  std::optional<double> smooth;
  bool hadamard = false;
  bool delta = false;
  std::string attention = "none";
  std::string plan;  ///< a plan per layer (JSON file) instead of the above
  CalibrationOptions calibration{};
};

/// The same for a model that is packed: activations follow the weights where those are an mx
/// format, whose scales need no calibration. Throws InvalidArgument where nothing is quantized.
SchemeText packing_scheme(SchemeText scheme);

/// What the texts come to for one model.
struct PlannedScheme {
  quant::QuantPlan plan;
  std::string text;         // the resolved pair and coverage, for every result
  std::string calibration;  // "200 boards of FILE, seed 1", or empty
};

/// Where the boards of a calibration come from. Throws what reading them throws.
CalibrationBoards calibration_source(const CalibrationOptions& options,
                                     const store::Checkpoint& checkpoint,
                                     std::span<const task::Example> scored);

/// The plan of the file or of the scheme, calibrated on the drawn boards where it needs to be, on
/// the backend that will run it; `scored` are the boards that it will be scored on. Throws what
/// CalibrationBoards, find_device, reading, resolving and calibrating throw.
PlannedScheme planned_scheme(const SchemeText& scheme, const store::Checkpoint& checkpoint,
                             const BackendOptions& backend, std::span<const task::Example> scored);

/// The same for a model file of either kind. A packed model brings its plan; throws InvalidArgument
/// where the texts ask for another one.
PlannedScheme planned_scheme(const SchemeText& scheme, const store::ModelFile& model,
                             const BackendOptions& backend, std::span<const task::Example> scored);

}  // namespace driftless::run
