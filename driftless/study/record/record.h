// SPDX-License-Identifier: Apache-2.0
// The result of one row as JSON: what was run, on what, and what came out, with n and intervals.
// docs/metrics.md describes the numbers; require_record is the schema.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "driftless/study/measure/tally.h"
#include "driftless/study/record/fields.h"
#include "driftless/study/record/row.h"

namespace driftless::study {

inline constexpr int64_t kRecordSchema = 1;

/// Whose results these are. A results file holds those of one version and one checkpoint.
struct Origin {
  std::string version;
  std::string model_file;  ///< name without folders
  std::string model_sha256;
  std::string data_file;
  std::string data_sha256;
  std::string calibration_file;  ///< "generated" without a hash for boards of the generator
  std::string calibration_sha256;
  std::string backend;  ///< what ran it: "cpu", "cuda"; of a native row, what ran the float model
  /// Flags of the command that nothing else in a record tells, by name; files without folders.
  Json flags = Json::object();
};

struct RowResult {
  std::string study;
  int64_t index = 0;  ///< of the row in its study
  Row row;            ///< resolved
  int64_t boards = 0;
  int64_t batch = 0;
  uint64_t seed = 0;
  quant::QuantPlan plan{};
  model::ModelConfig config{};
  Tally tally{};
  double wall_s = 0;
  double float_wall_s = 0;
};

/// The resolved row with the file of its calibration boards.
Json row_json(const Origin& origin, const Row& row);

/// What makes two rows the same measurement; a finished one is not computed again.
Json record_key(const Origin& origin, const RowResult& result);

/// Everything but "timing" is the same however many processes or threads made it.
Json make_record(const Origin& origin, const RowResult& result);

/// Checks a record: every key there, none unknown, of the right type, series as long as the row has
/// steps, shares within their intervals. Throws BadFile with `where` and the key.
void require_record(const Json& record, std::string_view where);

}  // namespace driftless::study
