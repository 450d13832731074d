// SPDX-License-Identifier: Apache-2.0
// Runs the rows of a study. Rows of one model variation go in groups through the boards, so that
// they share the float model's work; boards go in batches, and under several processes the batches
// are dealt out in turn. Results do not depend on the number of processes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driftless/study/backend.h"
#include "driftless/study/communicator.h"
#include "driftless/study/record/record.h"
#include "driftless/task/table.h"

namespace driftless::study {

struct StudyInput {
  std::string name;
  model::ModelConfig config;  ///< of the checkpoint
  const task::Task& task;
  std::span<const task::Example> examples;
  /// So many boards for calibration, by a seed; they live as long as the study.
  std::function<std::vector<reason::Board>(int64_t count, uint64_t seed)> calibration;
  Origin origin;
  uint64_t seed = 0;  ///< of EqR's random states and noise, and of perturbations
  int64_t batch = 32;
  int64_t rows_together = kRowsTogether;
  int64_t first_row = 0;  ///< number of the first row within its study
  int64_t threads = 1;    ///< that compare trajectories; results do not depend on it
};

/// Boards of all unfinished rows, each counted once a row.
struct StudyProgress {
  int64_t done = 0;
  int64_t total = 0;
  std::string rows;  ///< those that run now, such as "mxint4 mxint4 | int8 int8"
};

/// What happens to results. On rank 0 only.
struct Sink {
  /// Whether a row (by record_key) is finished already.
  std::function<bool(const Json& key)> is_done;
  std::function<void(const Json& record)> add;
  std::function<void(const StudyProgress& progress)> progress;  ///< after every batch
};

/// The plans of resolved rows, calibrated where they need it; rows that ask for the same
/// calibration share its boards. Throws what drawing those throws.
std::vector<quant::QuantPlan> plans_of(std::span<const Row> rows, const StudyInput& input,
                                       const Backend& backend);

/// Hands a record for each unfinished row to the sink, in the order of the rows.
void run_rows(std::span<const Row> rows, const StudyInput& input, const Backend& backend,
              Communicator& communicator, const Sink& sink);

}  // namespace driftless::study
