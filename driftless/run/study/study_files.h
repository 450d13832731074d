// SPDX-License-Identifier: Apache-2.0
// What a study runs on: a model, boards, and the backend that runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftless/run/backend.h"
#include "driftless/run/boards.h"
#include "driftless/run/calibration.h"
#include "driftless/study/backend.h"
#include "driftless/study/runner.h"

namespace driftless::run {

struct StudyOptions {
  std::string model;
  std::string source;  ///< the checkpoint that a packed model was made from
  std::string start;   ///< or the one that its quantized training started from
  std::string data;
  CalibrationOptions calibration{};
  std::vector<std::string> overrides;  ///< of a recipe's rows, KEY=VALUE
  int64_t limit = 0;                   ///< 0: all
  ArcOptions arc{};                    ///< its seed is that of the study
  BackendOptions backend{};
  int64_t batch = 0;  ///< 0: by device
  uint64_t seed = 0;
  std::string out;  ///< of results; "": none
};

/// The file of the float model: the model itself, or what stands beside a packed one. Throws
/// InvalidArgument where a packed model has nothing beside it, or a float one has.
std::string float_model_file(const StudyOptions& options);

/// The files that the options name, read and checked. Lives as long as the study.
class StudyFiles {
 public:
  /// `checkpoint` is that of float_model_file. Throws BadFile where the source of a packed model is
  /// another one or its start has another configuration, and what reading boards throws.
  StudyFiles(const StudyOptions& options, store::Checkpoint checkpoint);

  [[nodiscard]] const StudyOptions& options() const { return options_; }
  [[nodiscard]] const store::Checkpoint& checkpoint() const { return checkpoint_; }
  [[nodiscard]] const std::optional<store::PackedModel>& packed() const { return packed_; }
  /// How the device runs quantized rows.
  [[nodiscard]] study::Execution execution() const;
  [[nodiscard]] study::StudyInput input(std::string name) const;
  /// Makes rows native where the device is, and fills in the calibration of those that need one:
  /// what the options say, what the row says, the usual. Throws as CalibrationBoards::usual_count
  /// does.
  void complete(std::span<study::Row> rows) const;
  [[nodiscard]] study::Backend backend() const;

 private:
  [[nodiscard]] std::vector<task::Example> examples_of(const std::string& path) const;

  StudyOptions options_;
  store::Checkpoint checkpoint_;
  std::optional<store::PackedModel> packed_;  // runs wherever its plan is asked for
  std::vector<task::Example> examples_;
  std::shared_ptr<CalibrationBoards> calibration_;
  study::Origin origin_;
};

}  // namespace driftless::run
