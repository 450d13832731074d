// SPDX-License-Identifier: Apache-2.0
// Cases answered by the scalar kernels hold for every other set, and whatever is wrong with a
// stream is told.
#include "driftless/vectors/stream.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/files/text_file.h"
#include "driftless/quant/plan/scheme.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/store/packed_model.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::vectors {
namespace {

constexpr const char* kModel = "models/sudoku-small-mxint4.safetensors";

std::vector<std::string> cases_of(const std::vector<const Kind*>& kinds, int64_t count) {
  std::vector<std::string> lines;
  generate(kinds, {.cases = count}, 1, scalar_engine(),
           [&](const std::string& line) { lines.push_back(line); });
  return lines;
}

const std::vector<const Kind*> kWithoutModel = {&kDecode, &kEncode, &kQuantize, &kProduct};

Verifier verified(const std::vector<std::string>& lines, const Engine& engine) {
  Verifier verifier(engine);
  for (const std::string& line : lines) verifier.take(line);
  verifier.finish();
  return verifier;
}

/// Every kernel set of the families, each with the others' scalar ones.
std::vector<Engine> engines() {
  std::vector<Engine> all;
  for (const quant::KernelSet* set : quant::available_kernels())
    all.push_back({.quantizers = set,
                   .products = scalar_engine().products,
                   .epilogues = scalar_engine().epilogues});
  for (const integer::KernelSet* set : integer::available_kernels())
    all.push_back({.quantizers = scalar_engine().quantizers,
                   .products = set,
                   .epilogues = scalar_engine().epilogues});
  return all;
}

TEST(Vectors, EveryKernelSetAnswersAsTheScalarOnes) {
  const auto lines = cases_of(kWithoutModel, 3);
  std::map<std::string, int64_t> counts;
  for (const std::string& line : lines) ++counts[line.substr(0, line.find(' '))];
  EXPECT_EQ(counts.size(), kWithoutModel.size() + 2);  // and the first and last lines
  for (const Engine& engine : engines()) {
    const Verifier verifier = verified(lines, engine);
    EXPECT_EQ(verifier.cases(), static_cast<int64_t>(lines.size()) - 2);
    EXPECT_EQ(verifier.different(), 0) << engine.quantizers->name << " " << engine.products->name;
  }
}

TEST(Vectors, CasesFollowFromTheSeed) {
  EXPECT_EQ(cases_of({&kProduct}, 2), cases_of({&kProduct}, 2));
  // Worked out by hand: mantissas 3 and 2 times 5, with f = 2 fraction bits in both.
  const Engine engine = scalar_engine();
  Verifier verifier(engine);
  verifier.take("driftless-vectors 1");
  verifier.take("# int4 3 is 3.0, and 3.5 lies halfway between 3 and 4, whose code is even");
  verifier.take("decode int4 03 = 40400000");
  verifier.take("encode int4 40600000 = 04");
  verifier.take(
      "product mxint4,window=0 mxint4,window=0 2x1x1 0302 7f7f 05 7f = 0000000f0000000a "
      "3f7000003f200000");
  EXPECT_EQ(verifier.cases(), 3);
  EXPECT_EQ(verifier.different(), 0);
}

TEST(Vectors, AnotherAnswerIsToldWithItsLine) {
  auto lines = cases_of({&kDecode}, 4);
  lines[3].back() = lines[3].back() == '0' ? '1' : '0';
  const Verifier verifier = verified(lines, best_engine());
  EXPECT_EQ(verifier.different(), 1);
  ASSERT_EQ(verifier.differences().size(), 1u);
  EXPECT_EQ(verifier.differences()[0].line, 4);
  EXPECT_EQ(verifier.differences()[0].kind, "decode");
}

TEST(Vectors, AStreamThatIsNotWholeIsRefused) {
  const auto lines = cases_of({&kEncode}, 2);
  auto cut = lines;
  cut.pop_back();
  EXPECT_ERROR(verified(cut, best_engine()), ErrorCode::BadFile, "cut off");
  auto missing = lines;
  missing.erase(missing.begin() + 2);
  EXPECT_ERROR(verified(missing, best_engine()), ErrorCode::BadFile, "lines are missing");
  auto turned = lines;
  std::swap(turned[1], turned[2]);
  EXPECT_ERROR(verified(turned, best_engine()), ErrorCode::BadFile, "damaged");
  auto longer = lines;
  longer.push_back("# more");
  EXPECT_ERROR(verified(longer, best_engine()), ErrorCode::BadFile, "more after the end");
}

TEST(Vectors, ALineThatIsNoCaseIsRefusedByItsNumber) {
  const Engine engine = scalar_engine();
  struct Bad {
    const char* line;
    const char* says;
  };
  for (const Bad& bad :
       std::vector<Bad>{{"decode int4 03", "no case"},
                        {"decoed int4 03 = 0", "did you mean 'decode'"},
                        {"decode int4 = 0", "got 1 fields, expected 2"},
                        {"decode int44 03 = 0", "did you mean 'int4'"},
                        {"decode int4 ff = 0", "one of 4 bits"},
                        {"encode int4 7fc00000 = 0", "NaN"},
                        {"encode int4 3g800000 = 0", "'g'"},
                        {"quantize mxint4 99999999x99999999 00 = 0", "size"},
                        {"quantize mxint4 65536x65536 00 = 0", "digits"},
                        {"quantize mxint4 1x1 7f800000 = 0", "not finite"},
                        {"quantize int4/tensor/static 1x1 3f800000 = 0", "static"},
                        {"product mxint4 mxint4 1x1 0 0 0 0 = 0", "expected 3 numbers"},
                        {"product none mxint4 1x1x1 0 0 0 0 = 0", "none"},
                        {"step nowhere.safetensors 00 1 00 = 0", "--model"}}) {
    Verifier verifier(engine);
    verifier.take("driftless-vectors 1");
    EXPECT_ERROR(verifier.take(bad.line), ErrorCode::BadFile, bad.says);
  }
  Verifier verifier(engine);
  EXPECT_ERROR(verifier.take("decode int4 03 = 40400000"), ErrorCode::BadFile, "line 1");
}

TEST(Vectors, TrajectoriesOfTheGoldenFileHold) {
  Engine engine = best_engine();
  add_model(engine, kModel);
  Verifier verifier(engine);
  const std::string text = read_text("tests/golden/trajectories.txt");
  for (const std::string_view line : lines_of(text))
    if (!line.starts_with("end ") &&
        (!line.starts_with("step ") || line.find(engine.models[0].name) != line.npos))
      verifier.take(line);
  EXPECT_EQ(verifier.cases(), 2);
  EXPECT_EQ(verifier.different(), 0);
}

TEST(Vectors, ModelsThatDrawNumbersHaveNoCases) {
  Engine engine = scalar_engine();
  const store::Checkpoint float_model = store::load_checkpoint("models/eqr-small.safetensors");
  const quant::QuantSpec spec = quant::parse_quant_spec("mxint4,window=4");
  const testing::TempDir dir;
  store::save_packed(
      dir.path() / "eqr",
      store::pack_model(float_model, quant::resolve({.weights = spec, .acts = spec},
                                                    reason::linear_layers(float_model.config))));
  EXPECT_ERROR(add_model(engine, dir.path() / "eqr"), ErrorCode::Unsupported, "Gaussian");
}

}  // namespace
}  // namespace driftless::vectors
