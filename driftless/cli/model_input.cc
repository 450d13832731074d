// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/model_input.h"

#include <cstdio>
#include <string>

#include "driftless/base/text/one_line.h"
#include "driftless/cli/data_folder.h"
#include "driftless/run/model.h"

namespace driftless::cli {

std::filesystem::path default_model() { return data_folder("models") / "sudoku-small.safetensors"; }

std::filesystem::path default_packed_model() {
  return data_folder("models") / "sudoku-small-mxint4.safetensors";
}

store::ModelFile load_model(const std::filesystem::path& path) {
  store::ModelFile model = store::open_model(path);
  std::string line;
  for (const store::Finding& finding : model.found)
    line += (line.empty() ? "" : "; ") + finding.what + " " + finding.text;
  if (!line.empty())
    std::fprintf(stderr, "driftless: %s\n", one_line(path.string() + ": " + line).c_str());
  return model;
}

store::Checkpoint load_float_model(const std::filesystem::path& path) {
  return run::require_float(load_model(path), path.string());
}

}  // namespace driftless::cli
