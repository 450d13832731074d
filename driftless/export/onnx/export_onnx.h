// SPDX-License-Identifier: Apache-2.0
// A float model as an ONNX file for other runtimes. docs/export-onnx.md says what is in it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "driftless/base/text/enum_names.h"
#include "driftless/store/checkpoint.h"

namespace driftless::exporter {

/// Of the linear layers inside blocks; everything else is float32. Int8: weights by output channel,
/// inputs by tensor when they are there (DynamicQuantizeLinear, MatMulInteger). Int4: weights in
/// groups of 32 (com.microsoft's MatMulNBits).
enum class OnnxPrecision { Float32, Int8, Int4 };

inline constexpr std::array<EnumName<OnnxPrecision>, 3> kOnnxPrecisionNames = {
    {{OnnxPrecision::Float32, "float32"},
     {OnnxPrecision::Int8, "int8"},
     {OnnxPrecision::Int4, "int4"}}};

/// Step: one supervision step from states to states. Solve: steps until every board halts, as a
/// Loop.
enum class OnnxScope { Step, Solve };

struct OnnxOptions {
  OnnxPrecision precision = OnnxPrecision::Float32;
  OnnxScope scope = OnnxScope::Step;
  int64_t steps = 0;  ///< most steps of a solve; 0: the model's own
};

/// The quantizers, by their text form, that the layers of an exported graph amount to: of the
/// weights and of the inputs as ONNX Runtime takes them.
struct OnnxQuantizers {
  std::string_view weights, acts;
};
OnnxQuantizers onnx_quantizers(OnnxPrecision precision);

struct OnnxExport {
  std::string bytes;  ///< of the file
  int64_t nodes = 0;  ///< of all graphs
  int64_t constant_bytes = 0;
};

/// Throws InvalidArgument for a number of steps below 0, or of a single step, and Unsupported for a
/// model whose file would have 2 GiB or more, which protocol buffers do not allow.
OnnxExport export_onnx(const store::Checkpoint& checkpoint, const OnnxOptions& options);

}  // namespace driftless::exporter
