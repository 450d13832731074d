// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/study/run_study.h"

#include <algorithm>
#include <memory>

#include "driftless/base/error.h"
#include "driftless/study/ladder.h"
#include "driftless/study/record/results_file.h"

namespace driftless::run {
namespace {

/// The perturbation that `dynamics` follows must not vanish in the states' rounding.
void require_resolution(std::span<const study::Row> rows, const BackendOptions& options) {
  const bool has_dynamics =
      std::any_of(rows.begin(), rows.end(), [](const study::Row& row) { return row.dynamics; });
  DRIFTLESS_REQUIRE(!has_dynamics || options.dtype == "f32", ErrorCode::InvalidArgument,
                    "study: dynamics perturbs states by 1e-3, less than bfloat16 resolves; got "
                    "--dtype ",
                    options.dtype, ", expected f32");
}

}  // namespace

std::vector<std::string> default_ladder() { return {study::kLadder.begin(), study::kLadder.end()}; }

std::vector<study::Row> ladder_rows(SchemeRows named, const StudyFiles& files) {
  const model::ModelConfig& config = files.checkpoint().config;
  if (files.packed()) {
    DRIFTLESS_REQUIRE(named.schemes == default_ladder() && named.attention == "none",
                      ErrorCode::InvalidArgument,
                      "--schemes, --attention: the packed model is quantized already; expected its "
                      "source");
    named.schemes = {"none"};
  }
  std::vector<study::Row> rows = resolve(named, config);
  if (files.packed()) {
    study::Row own = row_of(*files.packed());
    own.steps = rows.front().steps;
    rows.front().scheme.coverage = own.scheme.coverage;
    rows.push_back(study::resolve(own, config));
  }
  files.complete(rows);
  return with_simulations(rows);
}

std::vector<study::Json> run_study(const StudyFiles& files, const StudyRows& asked) {
  const StudyOptions& options = files.options();
  require_resolution(asked.rows, options.backend);
  const auto communicator = study::make_communicator();
  study::StudyInput input = files.input(asked.name);
  input.first_row = asked.first_row;
  std::vector<study::Json> records;
  const auto keep = [&](const study::Json& record) {
    records.push_back(record);
    if (asked.on_record) asked.on_record(record);
  };
  std::unique_ptr<study::ResultsFile> results;
  if (!options.out.empty() && communicator->rank() == 0)
    results = std::make_unique<study::ResultsFile>(options.out, input.origin);
  study::run_rows(asked.rows, input, files.backend(), *communicator,
                  {.is_done =
                       [&](const study::Json& key) {
                         const study::Json* const found = results ? results->find(key) : nullptr;
                         if (found != nullptr) keep(*found);
                         return found != nullptr;
                       },
                   .add =
                       [&](const study::Json& record) {
                         if (results) results->append(record);
                         keep(record);
                       },
                   .progress =
                       [&](const study::StudyProgress& progress) {
                         if (asked.watch) asked.watch(progress);
                       }});
  return records;
}

}  // namespace driftless::run
