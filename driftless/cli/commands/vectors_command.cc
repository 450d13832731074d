// SPDX-License-Identifier: Apache-2.0
// driftless vectors: cases with their answers as text, by which other implementations are checked.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/text.h"
#include "driftless/cli/command.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/vectors/stream.h"

namespace driftless::cli {
namespace {

struct VectorsOptions {
  std::vector<std::string> kinds;
  std::vector<std::string> models;
  vectors::Amount amount;
  uint64_t seed = 1;
  std::string input{kStandardStream};
};

constexpr const char* kModel = "models/sudoku-small-mxint4.safetensors";

void add_models(const VectorsOptions& options, vectors::Engine& engine) {
  for (const std::string& path : options.models) vectors::add_model(engine, path);
}

bool has_steps(const std::vector<const vectors::Kind*>& kinds) {
  for (const vectors::Kind* const kind : kinds)
    if (kind->name == vectors::kStep.name) return true;
  return false;
}

void generate(VectorsOptions options) {
  std::vector<const vectors::Kind*> kinds;
  for (const std::string& name : options.kinds) kinds.push_back(&vectors::kind_by_name(name));
  if (kinds.empty())
    for (const vectors::Kind& kind : vectors::kinds()) kinds.push_back(&kind);
  if (options.models.empty()) options.models = {or_bundled(kModel)};
  vectors::Engine engine = vectors::scalar_engine();
  if (has_steps(kinds)) add_models(options, engine);
  vectors::generate(kinds, options.amount, options.seed, engine, [](const std::string& line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
  });
}

/// Hands over line after line, as they come.
void read_lines(const std::string& input, vectors::Verifier& verifier) {
  if (input != kStandardStream) {
    const std::string text = read_text(input);
    for (const std::string_view line : lines_of(text)) verifier.take(line);
    return;
  }
  std::string line;
  for (int letter = std::getc(stdin); letter != EOF; letter = std::getc(stdin)) {
    if (letter != '\n' && line.size() <= vectors::Verifier::kLongestLine) {
      line.push_back(static_cast<char>(letter));
      continue;
    }
    verifier.take(line);
    line.clear();
  }
  if (!line.empty()) verifier.take(line);
}

std::string shortened(const std::string& text) {
  constexpr size_t kShown = 64;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

void verify(VectorsOptions options) {
  vectors::Engine engine = vectors::best_engine();
  if (options.models.empty()) options.models = {or_bundled(kModel)};
  add_models(options, engine);
  vectors::Verifier verifier(engine);
  read_lines(options.input, verifier);
  verifier.finish();
  for (const vectors::Difference& difference : verifier.differences())
    std::fprintf(stderr, "line %lld, %s: got %s, expected %s\n",
                 static_cast<long long>(difference.line), difference.kind.c_str(),
                 shortened(difference.got).c_str(), shortened(difference.expected).c_str());
  DRIFTLESS_REQUIRE(verifier.different() == 0, ErrorCode::BadFile,
                    "vectors: ", verifier.different(), " of ", verifier.cases(),
                    " cases differ; the first at ", "line ", verifier.differences().front().line);
  std::printf(
      "%lld cases agree (quantizers %s, products %s, loop %s)\n",
      static_cast<long long>(verifier.cases()), std::string(engine.quantizers->name).c_str(),
      std::string(engine.products->name).c_str(), std::string(engine.epilogues->name).c_str());
}

void add_model_flag(const Verb& verb, VectorsOptions& options) {
  verb.add_input("--model", options.models,
                 "packed models of the cases of whole steps (default: the bundled Sudoku model)");
}

}  // namespace

void add_vectors_command(const Verb& verb) {
  auto options = std::make_shared<VectorsOptions>();
  verb.requires_verb();
  verb.example("driftless vectors generate | driftless vectors verify");

  const Verb generating =
      verb.add_verb("generate", "print cases with the answers of the scalar kernels");
  generating.add_option("--kinds", options->kinds, "decode, encode, quantize, product, step (all)");
  generating
      .add_option("--count", options->amount.cases,
                  "cases of each format, quantizer and pair of them")
      .between(1, 1e6)
      .shows_default();
  generating.add_option("--boards", options->amount.boards, "random boards of each model")
      .between(1, 1e6)
      .shows_default();
  generating.add_option("--steps", options->amount.steps, "supervision steps of each board")
      .between(1, 1000)
      .shows_default();
  generating.add_option("--seed", options->seed, "seed of the cases").shows_default();
  add_model_flag(generating, *options);
  generating.example("driftless vectors generate --kinds product --count 100 --seed 7");
  generating.runs([options] { generate(*options); });

  const Verb verifying =
      verb.add_verb("verify", "answer cases anew with the best kernels and compare");
  verifying.add_input("FILE", options->input, "cases, or - for standard input").shows_default();
  add_model_flag(verifying, *options);
  verifying.example("driftless vectors verify cases.txt");
  verifying.runs([options] { verify(*options); });
}

}  // namespace driftless::cli
