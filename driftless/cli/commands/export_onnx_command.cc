// SPDX-License-Identifier: Apache-2.0
// driftless export onnx: a float model as a graph for other runtimes.
#include "driftless/cli/commands/export_onnx_command.h"

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/cli/model_input.h"
#include "driftless/export/onnx/export_onnx.h"

namespace driftless::cli {
namespace {

struct ExportOnnxOptions {
  std::string model;
  std::string file;
  std::string precision = "float32";
  bool is_solve = false;
  int64_t steps = 0;
};

void export_onnx(const ExportOnnxOptions& options) {
  const store::ModelFile file = load_model(options.model);
  DRIFTLESS_REQUIRE(!file.packed.has_value(), ErrorCode::Unsupported, options.model,
                    ": export onnx; got a packed model, expected a float one; --precision "
                    "quantizes as other runtimes do");
  const exporter::OnnxExport made = exporter::export_onnx(
      file.checkpoint,
      {.precision = parse_enum(exporter::kOnnxPrecisionNames, options.precision, "--precision"),
       .scope = options.is_solve ? exporter::OnnxScope::Solve : exporter::OnnxScope::Step,
       .steps = options.steps});
  write_file_atomic(options.file, made.bytes);
  std::printf("%s: %s, %s, %" PRId64 " nodes, %zu bytes (constants %" PRId64 ")\n",
              options.file.c_str(), options.is_solve ? "a whole solve" : "one step",
              options.precision.c_str(), made.nodes, made.bytes.size(), made.constant_bytes);
}

}  // namespace

void add_export_onnx_command(const Verb& verb) {
  auto options = std::make_shared<ExportOnnxOptions>();
  verb.add_input("MODEL", options->model, "checkpoint (safetensors or PyTorch)").required();
  verb.add_output("OUT", options->file, "ONNX file to write").required();
  verb.add_option("--precision", options->precision,
                  "of the layers inside blocks; int4 has com.microsoft's MatMulNBits")
      .one_of(names_of(exporter::kOnnxPrecisionNames))
      .shows_default();
  const Flag solve = verb.add_switch("--solve", options->is_solve,
                                     "the whole solve as a Loop over steps, instead of one step");
  verb.add_option("--steps", options->steps, "most steps of a solve (default: the model's own)")
      .positive()
      .needs(solve);
  verb.example("driftless export onnx models/sudoku-small.safetensors sudoku.onnx --solve");
  verb.runs([options] { export_onnx(*options); });
}

}  // namespace driftless::cli
