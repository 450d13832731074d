// SPDX-License-Identifier: Apache-2.0
// driftless convert: any file the project reads, as safetensors.
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/text/text.h"
#include "driftless/cli/command.h"
#include "driftless/store/torch/convert.h"
#include "driftless/task/table.h"

namespace driftless::cli {
namespace {

struct WeightType {
  std::string_view name;
  store::DType dtype;
};
constexpr std::array kWeightTypes = {WeightType{"f32", store::DType::F32},
                                     WeightType{"f16", store::DType::F16},
                                     WeightType{"bf16", store::DType::BF16}};

struct ConvertOptions {
  std::string input;
  std::string output;
  std::string arch;
  std::string task;
  std::string positions;
  std::string weights = "f32";
  store::ImportOptions import;
};

store::DType weight_type(const std::string& name) {
  for (const WeightType& type : kWeightTypes) {
    if (type.name == name) return type.dtype;
  }
  reject("--weights", "got '" + name + "', expected f32, f16 or bf16");
}

std::vector<std::string_view> names_of_architectures() {
  std::vector<std::string_view> names;
  for (const model::Architecture& row : model::architectures()) names.push_back(row.name);
  return names;
}

void convert(ConvertOptions& options) {
  store::ImportOptions& import = options.import;
  if (!options.arch.empty()) import.arch = model::parse_arch(options.arch, "--arch");
  if (!options.task.empty()) import.task = task::find_task(options.task).name;
  if (!options.positions.empty())
    import.positions = model::parse_positions(options.positions, "--positions");
  const store::Converted converted =
      store::convert(options.input, options.output, import, weight_type(options.weights));
  constexpr std::array<const char*, 3> kKinds = {"a model", "an array", "a data set"};
  std::printf("%s: wrote %s\n", options.output.c_str(),
              kKinds[static_cast<size_t>(converted.kind)]);
  for (const store::Finding& finding : converted.found)
    std::printf("  %-13s %s\n", finding.what.c_str(), finding.text.c_str());
}

}  // namespace

void add_convert_command(const Verb& verb) {
  auto options = std::make_shared<ConvertOptions>();
  verb.add_input("IN", options->input,
                 "PyTorch checkpoint, safetensors, npy file or data-set folder")
      .required();
  const Flag out =
      verb.add_output("--out", options->output, "safetensors file to write").required();
  verb.accepts_old("OUT", out);
  verb.add_option("--weights", options->weights, "element type of a model: f32, f16 or bf16");
  auto& import = options->import;
  verb.add_input("--config", import.config,
                 "training configuration (default: the file's own, or all_config.yaml beside it)");
  verb.add_option("--arch", options->arch, join(names_of_architectures(), ", "));
  verb.add_option("--task", options->task, join(task::names_of_tasks(), ", ") + " or other");
  verb.add_option("--heads", import.heads, "attention heads, where no configuration says");
  verb.add_option("--h-cycles", import.h_cycles, "outer cycles a step");
  verb.add_option("--l-cycles", import.l_cycles, "inner cycles an outer cycle");
  verb.add_option("--positions", options->positions, "none, rope, rope2d or learned");
  verb.add_option("--steps", import.steps, "supervision steps");
  verb.add_option("--cells", import.cells, "cells of a board");
  verb.add_option("--prefix-rows", import.prefix_rows, "rows before the board");
  verb.example("driftless convert step_65100 --out trm.safetensors");
  verb.runs([options] { convert(*options); });
}

}  // namespace driftless::cli
