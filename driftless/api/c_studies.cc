// SPDX-License-Identifier: Apache-2.0
// Models scored on boards.
#include <cstring>

#include "driftless/api/c_boards.h"
#include "driftless/api/c_calls.h"
#include "driftless/api/driftless_boards.h"
#include "driftless/run/model.h"
#include "driftless/run/score/evaluation.h"
#include "driftless/run/score/evaluation_json.h"
#include "driftless/run/study/run_study.h"
#include "driftless/study/ladder.h"

namespace {

using driftless::ErrorCode;
using driftless::api::copied;
using driftless::api::guarded;
using driftless::api::require_given;
using driftless::api::text_or;
using driftless::api::Turn;
using driftless::api::turn_of;
namespace reason = driftless::reason;
namespace run = driftless::run;
namespace store = driftless::store;
namespace study = driftless::study;
namespace task = driftless::task;

/// Tells the caller how much is done; its wish to stop ends the work.
struct Listener {
  driftless_on_progress on_progress;
  void* user;

  void tell(int64_t done, int64_t total) const {
    if (on_progress == nullptr) return;
    const int stop = on_progress(user, done, total);
    DRIFTLESS_REQUIRE(stop == 0, ErrorCode::InvalidArgument,
                      "ended by on_progress, which returned ", stop);
  }
};

void require_task(const driftless_engine& engine, const driftless_boards& boards) {
  DRIFTLESS_REQUIRE(!boards.task.is_arc(), ErrorCode::Unsupported, "evaluate: models for ",
                    boards.task.name,
                    " vote over variants, which the program does; use 'driftless eval'");
  const std::string& own = engine.checkpoint.config.task;
  DRIFTLESS_REQUIRE(boards.task.name == task::find_task(own).name, ErrorCode::InvalidArgument,
                    "evaluate: boards of another task; got ", boards.task.name, ", expected ", own,
                    " as the model has");
  run::require_fits(engine.checkpoint, boards.examples, "evaluate");
}

run::StudyOptions study_options(const char* model, const char* data,
                                const driftless_ladder_options& given) {
  DRIFTLESS_REQUIRE(given.limit >= 0 && given.steps >= 0 && given.threads >= 0 &&
                        given.batch >= 0 && given.calibration_boards >= 0,
                    ErrorCode::InvalidArgument,
                    "ladder: limit, steps, threads, batch and calibration_boards; got a negative "
                    "one, expected 0 or more");
  run::StudyOptions options;
  options.model = model;
  options.data = data;
  options.limit = given.limit;
  options.seed = given.seed;
  options.batch = given.batch;
  options.backend.device = text_or(given.device, options.backend.device);
  if (given.threads > 0) options.backend.threads = given.threads;
  options.calibration.data = text_or(given.calibration_data, "");
  options.calibration.boards = given.calibration_boards;
  options.out = text_or(given.out, "");
  return options;
}

run::SchemeRows rows_of(const driftless_ladder_options& given) {
  run::SchemeRows rows{.schemes = run::default_ladder()};
  rows.coverage = text_or(given.coverage, rows.coverage);
  rows.steps = given.steps;
  if (given.scheme_count == 0) return rows;
  require_given(given.schemes, "ladder: schemes");
  rows.schemes.clear();
  for (size_t i = 0; i < given.scheme_count; ++i) {
    require_given(given.schemes[i], "ladder: scheme");
    rows.schemes.emplace_back(given.schemes[i]);
  }
  return rows;
}

driftless_ladder_options complete(const driftless_ladder_options* given) {
  driftless_ladder_options options = {};
  if (given == nullptr) return options;
  DRIFTLESS_REQUIRE(given->size >= sizeof(size_t) && given->size <= sizeof(options),
                    ErrorCode::InvalidArgument, "ladder: size of the options; got ", given->size,
                    ", expected sizeof(driftless_ladder_options) = ", sizeof(options));
  std::memcpy(&options, given, given->size);
  return options;
}

}  // namespace

int driftless_evaluate(driftless_engine* engine, const driftless_boards* boards,
                       const driftless_evaluate_options* given, char** json) {
  return guarded([&] {
    const Turn turn = turn_of(engine, "evaluate: engine");
    require_given(boards, "evaluate: boards");
    require_given(json, "evaluate: json");
    require_task(*engine, *boards);
    const driftless_evaluate_options options =
        given == nullptr ? driftless_evaluate_options{} : *given;
    const int64_t trained = engine->checkpoint.config.halt_max_steps;
    const Listener listener{options.on_progress, options.user};
    const int64_t total = driftless_board_count(boards);
    const run::Evaluation result = run::evaluate(
        *engine->reasoner, boards->task, boards->examples,
        {.halting = reason::find_halting(text_or(options.halting, "fixed")),
         .max_steps = options.max_steps == 0 ? trained : options.max_steps,
         .seed = options.seed,
         .watch = [&](int64_t done, const task::Score&) { listener.tell(done, total); }});
    listener.tell(total, total);
    *json = copied(run::evaluation_json(result).dump());
  });
}

int driftless_ladder(const char* model, const char* data, const driftless_ladder_options* given,
                     char** json) {
  return guarded([&] {
    require_given(model, "ladder: model");
    require_given(data, "ladder: data");
    require_given(json, "ladder: json");
    const driftless_ladder_options options = complete(given);
    const run::StudyOptions study = study_options(model, data, options);
    const run::StudyFiles files(
        study, run::require_float(store::open_model(run::float_model_file(study)), model));
    const std::vector<study::Row> rows = run::ladder_rows(rows_of(options), files);
    const Listener listener{options.on_progress, options.user};
    const std::vector<study::Json> records = run::run_study(
        files, {.name = "ladder", .rows = rows, .watch = [&](const study::StudyProgress& progress) {
                  listener.tell(progress.done, progress.total);
                }});
    *json = copied(study::Json(study::sort_for_ladder(records)).dump());
  });
}
