// SPDX-License-Identifier: Apache-2.0
// A row of a study: one model variation under one quantization, and what to measure on it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <nlohmann/json_fwd.hpp>

#include "driftless/model/config.h"
#include "driftless/quant/plan/plan.h"

namespace driftless::study {

/// How a quantized row runs: integers held in floats, or integers multiplied as such.
enum class Execution : uint8_t { Simulated, Native };

/// Of the draw of calibration boards, wherever nothing says otherwise.
inline constexpr int64_t kCalibrationSeed = 1;

/// A row as it is written in a recipe. Zero cycles or steps mean the model's own.
struct Row {
  quant::Scheme scheme;
  /// A packed model's own plan; absent: what the scheme says.
  std::optional<quant::QuantPlan> plan{};
  int64_t h_cycles = 0;
  int64_t l_cycles = 0;
  int64_t steps = 0;
  int64_t calibration_boards = 0;  ///< 0: to be filled in by who has the boards
  int64_t calibration_seed = kCalibrationSeed;
  int64_t rollouts = 0;  ///< noisy trajectories a board; 0 for the plain, deterministic one
  double noise = 0;      ///< standard deviation added to z_L before each supervision step
  int64_t noise_seed = 1;
  int64_t layer_boards = 0;  ///< boards on which per-layer errors are measured
  bool coherence = false;
  bool dynamics = false;
  Execution execution = Execution::Simulated;  ///< of no meaning for a float row

  bool operator==(const Row&) const = default;
};

/// Whether calibration has anything to find for the row.
bool needs_calibration(const Row& row);

/// The row with everything said: the model's own cycles and steps filled in, and what does not
/// matter (the calibration of a dynamic scheme, the noise without rollouts) at its default, so that
/// equal rows are equal.
Row resolve(const Row& row, const model::ModelConfig& config);

/// The model that a resolved row runs. Throws BadConfig where the cycles do not suit it.
model::ModelConfig vary(const model::ModelConfig& config, const Row& row);

/// The resolved row as a record keeps it.
nlohmann::ordered_json to_json(const Row& row);

/// Storage of one value, with its share of the scale: 32 bits for a float scale of a row or group,
/// nothing for one of a tensor; 32 for float. `inputs` is the length of a row.
double bits_per_value(const quant::QuantSpec& spec, int64_t inputs);

struct PlanBits {
  double weights = 0;  ///< mean over the weights
  double acts = 0;     ///< mean over the layers' inputs
};
/// Means over the given layers; one that the plan leaves out counts 32 bits.
PlanBits bits_of(const quant::QuantPlan& plan, std::span<const quant::LinearLayer> layers);

/// How many values each linear layer reads of one board in a supervision step, in all network
/// calls, in the order of reason::linear_layers.
std::vector<int64_t> input_values(const model::ModelConfig& config);

/// Multiply-adds of the linear layers for one board over all steps.
int64_t multiply_adds(const model::ModelConfig& config, int64_t steps);

}  // namespace driftless::study
