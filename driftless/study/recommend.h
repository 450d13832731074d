// SPDX-License-Identifier: Apache-2.0
// The fewest bits that keep a model's accuracy. Each layer's sensitivity is the divergence that
// quantizing it alone makes; starting from the widest choice everywhere, layers are narrowed in the
// order of least added divergence per bit saved, as far as accuracy allows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driftless/study/backend.h"
#include "driftless/study/measure/paired.h"
#include "driftless/study/record/row.h"
#include "driftless/task/table.h"

namespace driftless::study {

struct RecommendInput {
  model::ModelConfig config;
  const task::Task& task;
  std::span<const task::Example> examples;  ///< boards that accuracy is checked on
  int64_t probe_boards = 16;                ///< first ones of them that measure sensitivity
  std::vector<quant::QuantSpec> choices;    ///< for weights and activations, widest first; dynamic
  quant::Coverage coverage = quant::Coverage::Block;
  double within = 0.01;  ///< accuracy that may be lost, as a share
  int64_t steps = 16;
  int64_t batch = 32;
  uint64_t seed = 0;
};

/// A layer, the divergence of each choice on its own, and the choice taken.
struct LayerChoice {
  quant::LinearLayer layer;
  std::vector<double> divergence{};  ///< mean over boards and steps, by choice
  size_t choice = 0;
};

/// A plan that was run on all boards.
struct Check {
  int64_t narrowed = 0;  ///< steps down from the widest plan
  PlanBits bits{};
  Paired paired{};
  double exact = 0;
  bool is_within = false;
};

struct Recommendation {
  quant::QuantPlan plan;
  std::vector<LayerChoice> layers;
  std::vector<Check> checks;  ///< in the order in which they were made
  Check chosen;
};

/// Says what is being done, for a person who waits.
using Report = std::function<void(const std::string& what)>;

/// Throws InvalidArgument without choices or boards or for static choices, and Numeric when even
/// the widest plan loses more than allowed.
Recommendation recommend(const RecommendInput& input, const Backend& backend, const Report& report);

}  // namespace driftless::study
