// SPDX-License-Identifier: Apache-2.0
// The table that users want first: what each number format does to a model.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/study/record/record.h"
#include "driftless/study/record/row.h"

namespace driftless::study {

/// The rungs that `driftless ladder` climbs unless told otherwise, as ladder_row reads them.
inline constexpr std::array<std::string_view, 16> kLadder = {
    "none",
    "int8/tensor/static",
    "fp8_e4m3/tensor/static",
    "fp8_e5m2/tensor/static",
    "mxint8",
    "mxfp6_e2m3",
    "nvfp4",
    "mxfp4",
    "mxint4",
    "mxint4,rule=mse",
    "mxint4,rule=round",
    "int4/group32",
    "int4/tensor:none",
    "int4/tensor/static",
    "fp4_e2m1/tensor/static",
    "mxint3,rule=mse",
};

/// A row from "QUANTIZER" for weights and activations alike, or "WEIGHTS:ACTIVATIONS". Throws
/// InvalidArgument.
Row ladder_row(std::string_view text);

enum class TableStyle { Plain, Colored, Markdown };

/// The records as a table, best exact accuracy first, fewer bits first among equals.
std::string ladder_table(std::span<const Json> records, TableStyle style);

/// The same table line by line, in whatever order the records come, with columns that fit the rows
/// to come.
class LadderLines {
 public:
  LadderLines(std::span<const Row> rows, TableStyle style);
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string line(const Json& record) const;

 private:
  std::vector<size_t> widths_;
  TableStyle style_;
};

/// How native rows compare with their simulations on the same boards, a line each; "" where no
/// record says.
std::string native_notes(std::span<const Json> records);

/// The records of rows in the order of the table.
std::vector<Json> sort_for_ladder(std::span<const Json> records);

}  // namespace driftless::study
