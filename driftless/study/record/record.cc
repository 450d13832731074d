// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/record.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "driftless/reason/plan/linear_layers.h"
#include "driftless/study/lockstep.h"
#include "driftless/study/measure/dynamics.h"
#include "driftless/study/measure/layer_errors.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/measure/paired.h"
#include "driftless/study/measure/trajectory.h"
#include "driftless/study/rollouts.h"

namespace driftless::study {
namespace {

Json share_json(const task::Share& share) {
  const task::Interval interval = share.interval();
  return {{"share", share.value()},
          {"hits", share.hits},
          {"n", share.n},
          {"low", interval.low},
          {"high", interval.high}};
}

Json mean_json(const Moments& moments, Values values = Values::Any) {
  const task::Interval interval = interval_of(moments, values);
  return {{"mean", moments.mean()},
          {"n", std::llround(moments.n)},
          {"low", interval.low},
          {"high", interval.high}};
}

/// Means and interval ends by index; null where no board had a value.
Json series_json(std::span<const Moments> series, Values values = Values::Any) {
  Json json = {{"mean", Json::array()}, {"low", Json::array()}, {"high", Json::array()}};
  for (const Moments& moments : series) {
    const task::Interval interval = interval_of(moments, values);
    const bool is_empty = moments.n == 0;
    json["mean"].push_back(is_empty ? Json(nullptr) : Json(moments.mean()));
    json["low"].push_back(is_empty ? Json(nullptr) : Json(interval.low));
    json["high"].push_back(is_empty ? Json(nullptr) : Json(interval.high));
  }
  return json;
}

Json paired_json(const Paired& paired) {
  const task::Interval interval = paired.interval();
  return {{"lost", paired.lost}, {"gained", paired.gained}, {"difference", paired.difference()},
          {"low", interval.low}, {"high", interval.high},   {"p_value", paired.p_value()}};
}

std::vector<double> means(std::span<const Moments> series) {
  std::vector<double> result;
  result.reserve(series.size());
  for (const Moments& moments : series) result.push_back(moments.mean());
  return result;
}

Json verdict_json(const Tally& tally) {
  const std::vector<double> latent = means(tally.series("latent_divergence"));
  const double unrelated = std::sqrt(2.0) * tally.series("state_norm").back().mean();
  return {{"latent", to_string(judge(latent, unrelated))},
          {"growth", latent.front() == 0 ? 1.0 : latent.back() / latent.front()},
          {"level", unrelated == 0 ? 0.0 : latent.back() / unrelated}};
}

Json coherence_json(const Tally& tally, int64_t steps) {
  Json boards = Json::array();
  Json directions = Json::array();
  for (const StepCoherence& step : coherence(tally, steps)) {
    boards.push_back(step.across_boards);
    directions.push_back(step.direction_cosine);
  }
  if (boards.empty()) return nullptr;
  return {{"across_boards", boards}, {"direction_cosine", directions}};
}

Json layers_json(const Tally& tally) {
  Json layers = Json::array();
  for (const LayerError& error : layer_errors(tally)) {
    if (layers.empty() || layers.back().at("layer") != error.layer)
      layers.push_back({{"layer", error.layer},
                        {"call", Json::array()},
                        {"relative", Json::array()},
                        {"signed_mean", Json::array()}});
    layers.back()["call"].push_back(error.call);
    layers.back()["relative"].push_back(error.relative);
    layers.back()["signed_mean"].push_back(error.signed_mean);
  }
  return layers.empty() ? Json(nullptr) : layers;
}

Json dynamics_json(const Tally& tally) {
  if (!tally.has(dynamics_name("epsilon"))) return nullptr;
  Json json = {{"steps", Json::object()}};
  for (const std::string_view name : kDynamicsSteps)
    json["steps"][std::string(name)] = series_json(tally.series(dynamics_name(name)));
  for (const auto& [name, values] : kDynamicsBoards) {
    const auto series = tally.series(dynamics_name(name));
    json[std::string(name)] = series.empty() ? Json(nullptr) : mean_json(series[0], values);
  }
  return json;
}

Json rollouts_json(const Tally& tally) {
  if (!tally.has(kRolloutDivergence)) return nullptr;
  Json json = Json::object();
  for (const std::string_view answer : kRolloutAnswers) {
    const auto exact = tally.series(rollout_name(answer, "exact"));
    json[std::string(answer)] = {
        {"exact", share_json(exact.back().share())},
        {"cells", mean_json(tally.series(rollout_name(answer, "cells")).back(), Values::Share)},
        {"exact_by_step", means(exact)}};
  }
  json["latent_divergence"] = mean_json(tally.series(kRolloutDivergence)[0]);
  return json;
}

/// The layers that the bits are averaged over: those that the coverage names.
std::vector<quant::LinearLayer> covered_layers(const RowResult& result) {
  std::vector<quant::LinearLayer> layers = reason::linear_layers(result.config);
  if (result.row.scheme.coverage == quant::Coverage::Block)
    std::erase_if(layers, [](const quant::LinearLayer& layer) { return !layer.is_in_block; });
  return layers;
}

Json origin_json(const Origin& origin) {
  return {{"file", origin.model_file}, {"sha256", origin.model_sha256}};
}

Json data_json(const Origin& origin) {
  return {{"file", origin.data_file}, {"sha256", origin.data_sha256}};
}

/// Float rows have nothing to run natively.
bool is_native(const RowResult& result) {
  const quant::Scheme& scheme = result.row.scheme;
  return result.row.execution == Execution::Native &&
         !(scheme.weights.is_none() && scheme.acts.is_none());
}

Json config_json(const Origin& origin, const RowResult& result) {
  Json config = row_json(origin, result.row);
  config["seed"] = result.seed;
  config["batch"] = result.batch;
  config["backend"] = is_native(result) ? "native" : origin.backend;
  if (!origin.flags.empty()) config["flags"] = origin.flags;
  return config;
}

void add_accuracy(Json& record, const Tally& tally) {
  const auto last = [&](std::string_view name) { return tally.series(name).back(); };
  record["exact"] = share_json(last("exact").share());
  record["float_exact"] = share_json(last("float_exact").share());
  record["cells"] = mean_json(last("cells"), Values::Share);
  record["float_cells"] = mean_json(last("float_cells"), Values::Share);
  record["paired"] = paired_json({.lost = last("lost").share().hits,
                                  .gained = last("gained").share().hits,
                                  .n = last("lost").share().n});
  if (!tally.has(kNativeLost)) return;
  const auto lost = last(kNativeLost).share();
  record["simulation"] = {
      {"paired",
       paired_json({.lost = lost.hits, .gained = last(kNativeGained).share().hits, .n = lost.n})},
      {"same_answers", share_json(last(kNativeSame).share())}};
}

void add_trajectory(Json& record, const Tally& tally, const Row& row) {
  const bool has_trajectory = tally.has("latent_divergence");
  record["verdict"] = has_trajectory ? verdict_json(tally) : Json(nullptr);
  record["fidelity"] =
      has_trajectory ? mean_json(tally.series(kPathFidelity)[0], Values::Cosine) : Json(nullptr);
  record["halt_step_differs"] =
      has_trajectory ? share_json(tally.series(kHaltStepDiffers)[0].share()) : Json(nullptr);
  Json steps = Json::object();
  for (const Metric& metric : kStepMetrics)
    if (has_trajectory && tally.has(metric.name))
      steps[std::string(metric.name)] = series_json(tally.series(metric.name), metric.values);
  record["steps"] = steps;
  record["coherence"] = coherence_json(tally, row.steps);
  record["layers"] = layers_json(tally);
  record["dynamics"] = dynamics_json(tally);
  record["rollouts"] = rollouts_json(tally);
}

}  // namespace

Json row_json(const Origin& origin, const Row& row) {
  Json json = to_json(row);
  if (json["calibration"].is_null()) return json;
  json["calibration"]["file"] = origin.calibration_file;
  json["calibration"]["sha256"] = origin.calibration_sha256;
  return json;
}

Json record_key(const Origin& origin, const RowResult& result) {
  return {{"study", result.study},
          {"data", data_json(origin)},
          {"config", config_json(origin, result)},
          {"n", result.boards}};
}

Json make_record(const Origin& origin, const RowResult& result) {
  const PlanBits bits = bits_of(result.plan, covered_layers(result));
  const bool is_float = result.plan.is_float();
  const bool has_ratio = result.float_wall_s > 0 && result.row.layer_boards == 0;
  Json record = {
      {"schema", kRecordSchema},
      {"study", result.study},
      {"row", result.index},
      {"scheme", quant::to_string(result.row.scheme)},
      {"version", origin.version},
      {"checkpoint", origin_json(origin)},
      {"data", data_json(origin)},
      {"config", config_json(origin, result)},
      {"n", result.boards},
      {"execution", is_float            ? "float"
                    : is_native(result) ? "native"
                                        : "simulated"},
      {"bits", {{"weights", bits.weights}, {"acts", bits.acts}}},
      {"multiply_adds", multiply_adds(result.config, result.row.steps)},
  };
  add_accuracy(record, result.tally);
  add_trajectory(record, result.tally, result.row);
  record["timing"] = {
      {"wall_s", result.wall_s},
      {"float_wall_s", result.float_wall_s},
      {"ratio", has_ratio ? Json(result.wall_s / result.float_wall_s) : Json(nullptr)}};
  return record;
}

}  // namespace driftless::study
