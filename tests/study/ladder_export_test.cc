// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/ladder_export.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace driftless::study {
namespace {

Json record(const std::string& weights, const std::string& acts, double exact) {
  const bool is_float = weights == "none" && acts == "none";
  return {{"config", {{"weights", weights}, {"acts", acts}, {"calibration", nullptr}}},
          {"n", 3},
          {"bits", {{"weights", 4.25}, {"acts", 4.25}}},
          {"exact", {{"share", exact}, {"low", 0.125}, {"high", 0.9}}},
          {"paired", {{"difference", -0.25}, {"p_value", 0.5}}},
          {"verdict", is_float ? Json() : Json({{"latent", "contracts"}})},
          {"execution", is_float ? "float" : "simulated"}};
}

const std::vector<Json> kExported = {record("mxint4,rule=mse", "fp4_e2m1", 1.0 / 3),
                                     record("none", "none", 0.75)};

TEST(LadderExport, CsvHasEveryDigitAndTheOrderOfTheTable) {
  const std::string csv = ladder_csv(kExported);
  EXPECT_TRUE(csv.starts_with("weights,activations,coverage,")) << csv;
  EXPECT_NE(csv.find("\nnone,none,,,,,,,,4.25,4.25,3,0.75,0.125,0.9,,,,-0.25,,,0.5,,float,\n"
                     "\"mxint4,rule=mse\",fp4_e2m1,,,,,,,,4.25,4.25,3,0.3333333333333333,"),
            std::string::npos)
      << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const std::string heads = csv.substr(0, csv.find('\n'));
  EXPECT_EQ(std::count(heads.begin(), heads.end(), ','), 24);
}

TEST(LadderExport, LatexEscapesAndRounds) {
  const std::string latex = ladder_latex(kExported);
  EXPECT_TRUE(latex.starts_with("\\begin{tabular}{llrrrl}")) << latex;
  EXPECT_NE(latex.find("float & float & 4.25 & 75.0 (12.5--90.0) & -- & -- \\\\\n"),
            std::string::npos)
      << latex;
  EXPECT_NE(latex.find("\\texttt{mxint4,rule=mse} & \\texttt{fp4\\_e2m1} & 4.25 & 33.3 "
                       "(12.5--90.0) & $-25.0$ & contracts \\\\\n"),
            std::string::npos)
      << latex;
}

}  // namespace
}  // namespace driftless::study
