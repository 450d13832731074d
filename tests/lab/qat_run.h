// SPDX-License-Identifier: Apache-2.0
// The tiny run of tiny_run.h, quantized.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "driftless/lab/quant/quantized_model.h"
#include "driftless/lab/train/trainer.h"

#include "tests/lab/tiny_run.h"

namespace driftless::lab::testing {

/// `quant` holds the keys of [quant].
inline Recipe qat_recipe(const std::string& quant) {
  return parse_recipe(std::string(kTinyRecipe) + "[quant]\n" + quant, "tiny");
}

/// Starts from the tiny model's first weights, with 0.1 for every static scale of activations.
inline Trainer qat_trainer(const Recipe& recipe, std::function<bool()> should_give_up = {}) {
  const QatPlan qat = qat_plan(recipe, ".");
  quant::QuantPlan plan = qat.plan;
  for (quant::LayerPlan& layer : plan.layers)
    if (layer.needs_scales()) layer.scales = {{.scale = 0.1f}};
  Rng rng(static_cast<uint64_t>(recipe.seed));
  const NamedTensors weights = initial_weights(recipe.model, rng);
  LoadedRun run{fresh_run(recipe, weights, at::kCPU), std::nullopt};
  run.state.scales =
      fresh_optimizer_state(starting_scales(qat, plan, recipe.model, weights), at::kFloat);
  if (recipe.quant.distill > 0) run.state.teacher = run.state.optimizer.values.clone();
  TrainerOptions options;
  options.qat = qat;
  if (should_give_up) options.should_give_up = std::move(should_give_up);
  return {recipe, tiny_pool(), std::move(run), options};
}

}  // namespace driftless::lab::testing
