// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/study/study_rows.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/study/ladder.h"

namespace driftless::run {
namespace {

bool is_float(const quant::Scheme& scheme) {
  return scheme.weights.is_none() && scheme.acts.is_none();
}

}  // namespace

std::vector<study::Row> resolve(const SchemeRows& rows, const model::ModelConfig& config) {
  std::vector<study::Row> resolved;
  resolved.reserve(rows.schemes.size());
  for (const std::string& scheme : rows.schemes) {
    study::Row row = study::ladder_row(scheme);
    row.scheme.coverage = quant::parse_coverage(rows.coverage);
    if (!is_float(row.scheme))
      row.scheme.attention = quant::parse_attention_precision(rows.attention);
    row.steps = rows.steps;
    resolved.push_back(study::resolve(row, config));
  }
  return resolved;
}

study::Row native_row(study::Row row) {
  if (is_float(row.scheme)) return row;
  row.scheme.weights = native::with_window(row.scheme.weights, row.scheme.delta);
  row.scheme.acts = native::with_window(row.scheme.acts, row.scheme.delta);
  row.execution = study::Execution::Native;
  return row;
}

std::vector<study::Row> with_simulations(std::span<const study::Row> rows) {
  std::vector<study::Row> all;
  all.reserve(2 * rows.size());
  for (const study::Row& row : rows) {
    if (row.execution == study::Execution::Native) {
      all.push_back(row);
      all.back().execution = study::Execution::Simulated;
    }
    all.push_back(row);
  }
  return all;
}

study::Row row_of(const store::PackedModel& packed) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(packed.config);
  const auto& planned = packed.plan.layers;
  const quant::LayerPlan first = planned.empty() ? quant::LayerPlan{} : planned.front();
  DRIFTLESS_REQUIRE(std::all_of(planned.begin(), planned.end(),
                                [&](const quant::LayerPlan& layer) {
                                  return layer.weights == first.weights && layer.acts == first.acts;
                                }),
                    ErrorCode::Unsupported,
                    "ladder: the packed model's plan is no row of a ladder, since layers differ: ",
                    quant::describe(packed.plan, layers), "; use eval with and without --native");
  const bool covers_heads = std::any_of(layers.begin(), layers.end(), [&](const auto& layer) {
    return !layer.is_in_block && packed.plan.find(layer.name) != nullptr;
  });
  return {.scheme = {.weights = first.weights,
                     .acts = first.acts,
                     .coverage = covers_heads ? quant::Coverage::Linear : quant::Coverage::Block,
                     .attention = packed.plan.attention},
          .plan = packed.plan};
}

}  // namespace driftless::run
