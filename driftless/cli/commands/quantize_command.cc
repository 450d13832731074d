// SPDX-License-Identifier: Apache-2.0
// driftless quantize: a model's weights as packed codes, for the native engine where that can run
// them.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/sha256.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/run/repack.h"
#include "driftless/run/rounding.h"
#include "driftless/run/search/journal.h"
#include "driftless/run/search/search.h"
#include "driftless/store/packed_model.h"

namespace driftless::cli {
namespace {

struct QuantizeOptions {
  std::string model;
  std::string output;
  run::SchemeText scheme;
  std::string method = "nearest";
  std::optional<double> bits;  // none: as the scheme says
};

/// 0 for what has no size, such as a device.
unsigned long long size_of(const std::string& path) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  return ignored ? 0 : size;
}

/// As the scheme and the method say.
store::PackedModel packed_as_asked(const QuantizeOptions& options,
                                   const store::Checkpoint& checkpoint,
                                   const run::BackendOptions& backend) {
  const run::SchemeText asked = run::packing_scheme(options.scheme);
  const run::Method method = run::parse_method(options.method);
  const run::PlannedScheme scheme = run::planned_scheme(asked, checkpoint, backend, {});
  const Progress progress("packing " + scheme.text);
  return run::pack(checkpoint, scheme, method, backend, options.scheme.calibration);
}

void print(const run::Tried& tried) {
  if (!tried.is_whole && !tried.is_kept && tried.skipped.empty()) return;
  make_way();
  if (tried.skipped.empty())
    std::printf("error %.4f  %-7s  %s\n", tried.error, tried.is_kept ? "kept" : "dropped",
                tried.change.c_str());
  else
    std::printf("no error      skipped  %s: %s\n", tried.change.c_str(), tried.skipped.c_str());
  std::fflush(stdout);
}

/// Prints what is tried; Ctrl-C ends the search between two changes.
run::SearchWatch watch_search(const std::filesystem::path& journal) {
  auto line = std::make_shared<Progress>("search");
  const auto progress = [line](const std::string& phase, int64_t done, int64_t total) {
    line->set_total(total);
    line->show(done, phase);
  };
  const auto tried = [journal](const run::Tried& one) {
    print(one);
    if (was_interrupted())
      throw Interrupted(journal.empty()
                            ? "interrupted; nothing was written"
                            : "interrupted; the same command goes on from " + journal.string());
  };
  return {.tried = tried, .progress = progress};
}

/// As few bits as are asked for, by what helps.
store::PackedModel packed_by_search(const QuantizeOptions& options,
                                    const store::Checkpoint& checkpoint,
                                    const run::BackendOptions& backend,
                                    const std::filesystem::path& journal) {
  const run::SchemeText& asked = options.scheme;
  DRIFTLESS_REQUIRE(asked.weights == "none" && asked.acts == "none" && asked.plan.empty() &&
                        options.method == "nearest",
                    ErrorCode::InvalidArgument,
                    "quantize: --bits looks for quantizers and methods itself; expected no "
                    "--weights, --acts, --plan or --method beside it");
  run::Found found = run::search_bits(checkpoint,
                                      {.bits = *options.bits,
                                       .scheme = asked,
                                       .backend = backend,
                                       .model_sha256 = sha256_of_file(options.model),
                                       .journal = journal},
                                      watch_search(journal));
  std::printf("mean bits: weights %.3f, acts %.3f\n", found.bits.weights, found.bits.acts);
  return std::move(found.packed);
}

/// Of a packed model: with its weights as they are.
store::PackedModel repacked(const QuantizeOptions& options, store::PackedModel model) {
  DRIFTLESS_REQUIRE(!options.bits && options.method == "nearest", ErrorCode::InvalidArgument,
                    "quantize: --bits, --method: ", options.model,
                    " is packed and keeps its weights; expected its source");
  return run::repack(std::move(model), options.scheme);
}

/// Of a checkpoint.
store::PackedModel packed_from(const QuantizeOptions& options, const store::Checkpoint& checkpoint,
                               const std::filesystem::path& journal) {
  const run::BackendOptions backend{.device = "native"};
  store::PackedModel model = options.bits ? packed_by_search(options, checkpoint, backend, journal)
                                          : packed_as_asked(options, checkpoint, backend);
  model.source_sha256 = sha256_of_file(options.model);
  return model;
}

void quantize(const QuantizeOptions& options) {
  store::ModelFile source = load_model(options.model);
  const std::filesystem::path journal =
      options.bits ? run::journal_of(options.output) : std::filesystem::path();
  const store::PackedModel packed = source.packed
                                        ? repacked(options, std::move(*source.packed))
                                        : packed_from(options, source.checkpoint, journal);
  store::save_packed(options.output, packed);
  if (!journal.empty()) std::filesystem::remove(journal);
  if (!packed.calibration.empty()) std::printf("calibrated on %s\n", packed.calibration.c_str());
  if (!packed.method.empty()) std::printf("%s\n", packed.method.c_str());
  const std::string text = quant::describe(packed.plan, reason::linear_layers(packed.config));
  std::printf("%s: %s, %llu bytes (source %llu)\n", options.output.c_str(), text.c_str(),
              size_of(options.output), size_of(options.model));
  const std::string why = native::why_simulated(packed);
  std::printf("native: %s\n", why.empty() ? "yes" : ("no: " + why).c_str());
}

}  // namespace

void add_quantize_command(const Verb& verb) {
  auto options = std::make_shared<QuantizeOptions>();
  verb.add_input("MODEL", options->model,
                 "checkpoint (safetensors or PyTorch), or a packed model for other "
                 "--acts")
      .required();
  const Flag out =
      verb.add_output("--out", options->output, "packed model to write (safetensors)").required();
  verb.accepts_old("OUT", out);
  add_scheme_flags(verb, options->scheme);
  verb.add_option("--method", options->method,
                  "how weights are rounded: nearest, gptq (makes up for its errors), gptaq (for "
                  "those of activations too) or descent (gptq, then each weight again until none "
                  "helps); clip, alone or before one, takes scales of least "
                  "error by their rule, fit the best of all that blocks with scale= can store")
      .one_of(run::all_methods())
      .shows_default()
      .group("Quantization");
  verb.add_option("--bits", options->bits,
                  "instead of quantizers: try formats and methods of at most this many bits in the "
                  "mean, for the model and layer by layer, keep what helps; the same command goes "
                  "on where it was ended")
      .group("Quantization");
  verb.example(
      "driftless quantize models/sudoku-small.safetensors --out packed.safetensors "
      "--weights mxint4");
  verb.runs([options] { quantize(*options); });
}

}  // namespace driftless::cli
