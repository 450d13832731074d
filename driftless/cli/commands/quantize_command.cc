// SPDX-License-Identifier: Apache-2.0
// driftless quantize: a model's weights as packed codes, for the native engine where that can run
// them.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "driftless/base/sha256.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/run/rounding.h"
#include "driftless/store/packed_model.h"

namespace driftless::cli {
namespace {

struct QuantizeOptions {
  std::string model;
  std::string output;
  run::SchemeText scheme;
  std::string method = "nearest";
};

/// 0 for what has no size, such as a device.
unsigned long long size_of(const std::string& path) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  return ignored ? 0 : size;
}

void quantize(const QuantizeOptions& options) {
  const run::SchemeText asked = run::packing_scheme(options.scheme);
  const run::Rounding rounding = run::parse_rounding(options.method);
  const store::Checkpoint checkpoint = load_float_model(options.model);
  const run::BackendOptions backend{.device = "native"};
  const run::PlannedScheme scheme = run::planned_scheme(asked, checkpoint, backend, {});
  store::PackedModel packed = [&] {
    const Progress progress("packing " + scheme.text);
    return run::pack(checkpoint, scheme, rounding, backend, options.scheme.calibration);
  }();
  packed.source_sha256 = sha256_of_file(options.model);
  store::save_packed(options.output, packed);
  if (!scheme.calibration.empty()) std::printf("calibrated on %s\n", scheme.calibration.c_str());
  if (!packed.method.empty()) std::printf("%s\n", packed.method.c_str());
  std::printf("%s: %s, %llu bytes (source %llu)\n", options.output.c_str(), scheme.text.c_str(),
              size_of(options.output), size_of(options.model));
  const std::string why = native::why_simulated(packed);
  std::printf("native: %s\n", why.empty() ? "yes" : ("no: " + why).c_str());
}

}  // namespace

void add_quantize_command(const Verb& verb) {
  auto options = std::make_shared<QuantizeOptions>();
  verb.add_input("MODEL", options->model, "checkpoint (safetensors or PyTorch)").required();
  const Flag out =
      verb.add_output("--out", options->output, "packed model to write (safetensors)").required();
  verb.accepts_old("OUT", out);
  add_scheme_flags(verb, options->scheme);
  verb.add_option("--method", options->method,
                  "rounding of weights; gptq makes up for errors, gptaq for those of activations "
                  "too")
      .one_of(names_of(run::kRoundings))
      .shows_default()
      .group("Quantization");
  verb.example(
      "driftless quantize models/sudoku-small.safetensors --out packed.safetensors "
      "--weights mxint4");
  verb.runs([options] { quantize(*options); });
}

}  // namespace driftless::cli
