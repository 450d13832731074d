// SPDX-License-Identifier: Apache-2.0
// The schema of records, as tables.
#include <algorithm>
#include <array>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/record/fields.h"
#include "driftless/study/record/record.h"

namespace driftless::study {
namespace {

constexpr std::array<Field, 27> kRecordFields = {{
    {"schema", Kind::Integer},
    {"study", Kind::Text},
    {"row", Kind::Integer},
    {"scheme", Kind::Text},
    {"version", Kind::Text},
    {"checkpoint", Kind::Object},
    {"data", Kind::Object},
    {"config", Kind::Object},
    {"n", Kind::Integer},
    {"execution", Kind::Text},
    {"bits", Kind::Object},
    {"multiply_adds", Kind::Integer},
    {"exact", Kind::Object},
    {"float_exact", Kind::Object},
    {"cells", Kind::Object},
    {"float_cells", Kind::Object},
    {"paired", Kind::Object},
    {"simulation", Kind::Object, Gap::Absent},
    {"verdict", Kind::Object, Gap::Null},
    {"fidelity", Kind::Object, Gap::Null},
    {"halt_step_differs", Kind::Object, Gap::Null},
    {"steps", Kind::Object},
    {"coherence", Kind::Object, Gap::Null},
    {"layers", Kind::Array, Gap::Null},
    {"dynamics", Kind::Object, Gap::Null},
    {"rollouts", Kind::Object, Gap::Null},
    {"timing", Kind::Object},
}};

constexpr std::array<Field, 21> kConfigFields = {{
    {"weights", Kind::Text},
    {"acts", Kind::Text},
    {"coverage", Kind::Text},
    {"bias", Kind::Text},
    {"scales", Kind::Text},
    {"smooth", Kind::Number, Gap::Null},
    {"hadamard", Kind::Bool},
    {"delta", Kind::Bool, Gap::Absent},
    {"attention", Kind::Text, Gap::Absent},
    {"h_cycles", Kind::Integer},
    {"l_cycles", Kind::Integer},
    {"steps", Kind::Integer},
    {"calibration", Kind::Object, Gap::Null},
    {"rollouts", Kind::Object, Gap::Null},
    {"layer_boards", Kind::Integer},
    {"coherence", Kind::Bool},
    {"dynamics", Kind::Bool},
    {"seed", Kind::Integer},
    {"batch", Kind::Integer},
    {"backend", Kind::Text},
    {"flags", Kind::Object, Gap::Absent},
}};

constexpr std::array<Field, 2> kFileFields = {{{"file", Kind::Text}, {"sha256", Kind::Text}}};
constexpr std::array<Field, 2> kBitsFields = {{{"weights", Kind::Number}, {"acts", Kind::Number}}};
constexpr std::array<Field, 5> kShareFields = {{{"share", Kind::Number},
                                                {"hits", Kind::Integer},
                                                {"n", Kind::Integer},
                                                {"low", Kind::Number},
                                                {"high", Kind::Number}}};
constexpr std::array<Field, 4> kMeanFields = {
    {{"mean", Kind::Number}, {"n", Kind::Integer}, {"low", Kind::Number}, {"high", Kind::Number}}};
constexpr std::array<Field, 6> kPairedFields = {{{"lost", Kind::Integer},
                                                 {"gained", Kind::Integer},
                                                 {"difference", Kind::Number},
                                                 {"low", Kind::Number},
                                                 {"high", Kind::Number},
                                                 {"p_value", Kind::Number}}};
constexpr std::array<Field, 2> kSimulationFields = {
    {{"paired", Kind::Object}, {"same_answers", Kind::Object}}};
constexpr std::array<Field, 3> kVerdictFields = {
    {{"latent", Kind::Text}, {"growth", Kind::Number}, {"level", Kind::Number}}};
constexpr std::array<Field, 3> kSeriesFields = {
    {{"mean", Kind::Array}, {"low", Kind::Array}, {"high", Kind::Array}}};
constexpr std::array<Field, 3> kTimingFields = {
    {{"wall_s", Kind::Number}, {"float_wall_s", Kind::Number}, {"ratio", Kind::Number, Gap::Null}}};

/// The parts of a record that are objects with fields of their own.
struct Part {
  std::string_view name;
  std::span<const Field> fields;
};
constexpr std::array<Part, 13> kParts = {{{"checkpoint", kFileFields},
                                          {"data", kFileFields},
                                          {"config", kConfigFields},
                                          {"bits", kBitsFields},
                                          {"exact", kShareFields},
                                          {"float_exact", kShareFields},
                                          {"cells", kMeanFields},
                                          {"float_cells", kMeanFields},
                                          {"paired", kPairedFields},
                                          {"simulation", kSimulationFields},
                                          {"verdict", kVerdictFields},
                                          {"fidelity", kMeanFields},
                                          {"timing", kTimingFields}}};

void require_series(const Json& series, int64_t steps, const std::string& where) {
  require_fields(series, kSeriesFields, where);
  for (const Field& field : kSeriesFields)
    DRIFTLESS_REQUIRE(std::ssize(series.at(field.name)) == steps, ErrorCode::BadFile, where, ": '",
                      field.name, "'; got ", series.at(field.name).size(), " values, expected ",
                      steps);
}

void require_steps(const Json& record, const std::string& where) {
  const int64_t steps = record.at("config").at("steps");
  const Json& series = record.at("steps");
  const std::string place = where + ": steps.";
  for (const auto& [name, values] : series.items()) {
    const bool is_known =
        std::any_of(kStepMetrics.begin(), kStepMetrics.end(),
                    [&name = name](const Metric& metric) { return metric.name == name; });
    DRIFTLESS_REQUIRE(is_known, ErrorCode::BadFile, where, ": unknown metric ", quote(name));
    require_series(values, steps, place + name);
  }
  if (!record.at("rollouts").is_null()) return;
  for (const Metric& metric : kStepMetrics)
    DRIFTLESS_REQUIRE(series.contains(metric.name) || (metric.name == "step_cosine" && steps == 1),
                      ErrorCode::BadFile, where, ": no metric '", metric.name, "'");
}

}  // namespace

void require_record(const Json& record, std::string_view where) {
  const std::string at(where);
  require_fields(record, kRecordFields, at);
  DRIFTLESS_REQUIRE(record.at("schema") == kRecordSchema, ErrorCode::BadFile, at, ": schema; got ",
                    record.at("schema").dump(), ", expected ", kRecordSchema);
  for (const Part& part : kParts)
    if (record.contains(part.name) && !record.at(part.name).is_null())
      require_fields(record.at(part.name), part.fields, at + ": " + std::string(part.name));
  if (record.contains("simulation")) {
    const Json& simulation = record.at("simulation");
    require_fields(simulation.at("paired"), kPairedFields, at + ": simulation.paired");
    require_fields(simulation.at("same_answers"), kShareFields, at + ": simulation.same_answers");
  }
  require_steps(record, at);
  for (const std::string_view name : {"exact", "float_exact"}) {
    const Json& share = record.at(name);
    const double value = share.at("share");
    DRIFTLESS_REQUIRE(
        share.at("low") <= value && value <= share.at("high") && share.at("n") == record.at("n"),
        ErrorCode::BadFile, at, ": '", name, "'; expected a share of n boards within its interval");
  }
}

}  // namespace driftless::study
