// SPDX-License-Identifier: Apache-2.0
// Rows of a study named by their quantizers, as ladder and trace take them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driftless/store/packed_model.h"
#include "driftless/study/record/row.h"

namespace driftless::run {

struct SchemeRows {
  std::vector<std::string> schemes;  ///< as study::ladder_row reads them
  std::string coverage = "block";
  std::string attention = "none";  ///< of the rows that quantize
  int64_t steps = 0;               ///< 0: the model's
};

/// The rows of a study. Throws InvalidArgument on a scheme that is none.
std::vector<study::Row> resolve(const SchemeRows& rows, const model::ModelConfig& config);

/// The row on integers: mx quantizers get the native engine's window. A float row stays as it is.
study::Row native_row(study::Row row);

/// Each native row behind its simulation.
std::vector<study::Row> with_simulations(std::span<const study::Row> rows);

/// A packed model's own row, with its plan. Throws Unsupported where the quantizers of its layers
/// differ, which no row of a table could say.
study::Row row_of(const store::PackedModel& packed);

}  // namespace driftless::run
