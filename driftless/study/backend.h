// SPDX-License-Identifier: Apache-2.0
// What a study needs of whoever runs models. The caller binds a checkpoint and a device; a study
// knows neither.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "driftless/model/config.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/reasoner.h"
#include "driftless/study/record/row.h"

namespace driftless::study {

/// Rows that run side by side. More would save little of the float model's share and lose more when
/// a study is interrupted.
inline constexpr int64_t kRowsTogether = 4;

struct ReasonerRequest {
  model::ModelConfig config;  ///< the checkpoint's, but for the numbers of cycles
  quant::QuantPlan plan{};    ///< calibrated; empty for float
  int64_t slots = 1;
  Execution execution = Execution::Simulated;
};

/// Plans that differ in their quantizers only, so that the boards can run once for all of them.
struct CalibrationRequest {
  model::ModelConfig config;
  std::vector<quant::QuantPlan> plans{};
  std::span<const reason::Board> boards{};
  int64_t steps = 1;  ///< supervision steps that are observed
};

struct Backend {
  std::function<std::unique_ptr<reason::Reasoner>(const ReasonerRequest& request)> make;
  /// The plans with their static scales and smoothing maxima, from boards run in float.
  std::function<std::vector<quant::QuantPlan>(const CalibrationRequest& request)> calibrate;
};

}  // namespace driftless::study
