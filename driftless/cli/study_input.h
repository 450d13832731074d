// SPDX-License-Identifier: Apache-2.0
// What study, ladder, recommend and trace share: a model, boards, and the backend to run them on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftless/cli/backend.h"
#include "driftless/cli/board_files.h"
#include "driftless/cli/calibration.h"
#include "driftless/cli/flags/flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/study/backend.h"
#include "driftless/study/runner.h"

namespace driftless::cli {

struct StudyFlags {
  std::string model;
  std::string source;  // the checkpoint that a packed model was made from
  std::string start;   // or the one that its quantized training started from
  std::string data;
  CalibrationFlags calibration{};
  std::vector<std::string> overrides;  // of a recipe's rows, KEY=VALUE
  int64_t limit = 0;                   // 0: all
  ArcOptions arc{};
  BackendOptions backend{};
  int64_t batch = 0;  // 0: by device
  uint64_t seed = 0;
  std::string out;
};

/// All flags but the model's.
void add_study_flags(const Verb& verb, StudyFlags& flags);

/// How the rows of a study with these flags run.
study::Execution execution_of(const StudyFlags& flags);

/// The files that the flags name, read and checked. Lives as long as the study. A packed model
/// needs its source or start, which is the float model beside it. Throws InvalidArgument without
/// either, BadFile where the source is another one or the start has another configuration.
class StudyFiles {
 public:
  explicit StudyFiles(const StudyFlags& flags);

  [[nodiscard]] const store::Checkpoint& checkpoint() const { return checkpoint_; }
  [[nodiscard]] const std::optional<store::PackedModel>& packed() const { return packed_; }
  [[nodiscard]] study::StudyInput input(std::string name) const;
  /// Fills in the calibration of rows that need one: what the flags say, what the row says, the
  /// usual. Throws as CalibrationBoards::usual_count does.
  void complete(std::span<study::Row> rows) const;
  [[nodiscard]] study::Backend backend() const;

 private:
  [[nodiscard]] std::vector<task::Example> examples_of(const std::string& path) const;

  StudyFlags flags_;
  store::Checkpoint checkpoint_;
  std::optional<store::PackedModel> packed_;  // runs wherever its plan is asked for
  std::vector<task::Example> examples_;
  std::shared_ptr<CalibrationBoards> calibration_;
  study::Origin origin_;
};

/// Runs rows, the first of which has the number `first_row` in its study, with a results file where
/// the flags name one, and returns all records of these rows, finished earlier or now; none on
/// ranks other than 0. Progress goes to stderr.
std::vector<study::Json> run_study(const StudyFiles& files, const StudyFlags& flags,
                                   const std::string& name, std::span<const study::Row> rows,
                                   int64_t first_row = 0);

}  // namespace driftless::cli
