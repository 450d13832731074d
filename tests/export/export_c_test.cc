// SPDX-License-Identifier: Apache-2.0
// What the exporter refuses, and what it says of sizes.
#include "driftless/export/export_c.h"

#include <gtest/gtest.h>

#include "driftless/export/identifier.h"

#include "tests/export/small_models.h"
#include "tests/testing/expect_error.h"

namespace driftless::exporter {
namespace {

using testing::packed;
using testing::SmallModel;

const std::string& text_of(const CExport& made, const std::string& name) {
  for (const CFile& file : made.files)
    if (file.name == name) return file.text;
  throw std::out_of_range(name);
}

TEST(ExportC, NamesAreIdentifiers) {
  EXPECT_EQ(identifier_of("sudoku-small-mxint4.safetensors"), "sudoku_small_mxint4");
  for (const char* good : {"net", "sudoku_small", "Model9", "reasoner"})
    EXPECT_NO_THROW(require_identifier(good)) << good;
  for (const char* bad : {"", "9x", "a-b", "_hidden", "x y", "caf\xc3\xa9", "a\n",
                          "a_name_of_more_characters_than_C99_keeps_apart"})
    EXPECT_ERROR(require_identifier(bad), ErrorCode::InvalidArgument, "expected a letter");
  for (const char* taken : {"int", "main", "weights", "memcpy", "uint8_t", "blocks", "STEP"})
    EXPECT_ERROR(require_identifier(taken), ErrorCode::InvalidArgument, "a word of C");
}

TEST(ExportC, RefusesWhatItCannotRun) {
  const auto refuses = [](const SmallModel& small, const char* word) {
    EXPECT_ERROR((void)export_c(packed(small), {.name = "probe"}), ErrorCode::Unsupported, word);
  };
  refuses({"", testing::config_named("EqrTokens")}, "draws random numbers");
  refuses({"", testing::config_named("TrmStochasticTokens")}, "draws random numbers");
  const auto tokens = testing::config_named("TrmTokens");
  refuses({"", tokens, "mxfp4", "mxint4,window=4"}, "layer 'L_level.layers.0.mlp_t.gate_up_proj");
  refuses({"", tokens, "mxint4,window=4", "none"}, "layer 'L_level.layers.0.mlp_t.gate_up_proj");
  refuses({"", tokens, "mxint4,window=4", "mxint4,rule=mse,window=4"}, "but mse");
  refuses({"", tokens, "mxint4,window=4", "mxint4"}, "window");
}

TEST(ExportC, RefusesWrongOptions) {
  const store::PackedModel model = packed(testing::sudoku_like());
  const auto refuses = [&](const COptions& options, const char* word) {
    EXPECT_ERROR((void)export_c(model, options), ErrorCode::InvalidArgument, word);
  };
  refuses({.name = "9"}, "name of the model");
  refuses({.name = "probe", .section = "a\")))"}, "section");
  refuses({.name = "probe", .kernels = {"dps"}}, "did you mean 'dsp'");
  refuses({.name = "probe", .tile = 0}, "tile; got 0");
  refuses({.name = "probe", .most_flash = 1000}, "constants; the model has");
  refuses({.name = "probe", .most_ram = 1000}, "arena with kernels in plain C; the model");
  const int64_t plain_c = export_c(model, {.name = "probe"}).plain_c.bytes;
  refuses({.name = "probe", .most_ram = plain_c}, "arena with kernels 'dsp'; the model");
  EXPECT_NO_THROW(
      (void)export_c(model, {.name = "probe", .kernels = {"mve"}, .most_ram = plain_c}));
}

TEST(ExportC, PlansMemoryCloseToTheLeast) {
  for (const SmallModel& small : testing::small_models()) {
    const CExport made = export_c(packed(small), {.name = "probe"});
    for (const CArena& arena : {made.plain_c, made.dsp, made.vector}) {
      EXPECT_GE(arena.bytes, arena.least) << small.name;
      EXPECT_LE(static_cast<double>(arena.bytes), 1.15 * static_cast<double>(arena.least))
          << small.name;
    }
  }
}

TEST(ExportC, FourBitsStayFourBits) {
  const CExport made = export_c(packed(testing::sudoku_like()), {.name = "probe"});
  // Rows of 81, 256, 40 and 256 inputs take 3, 8, 2 and 8 blocks of 17 bytes.
  EXPECT_EQ(made.weight_bytes, 17 * (512 * 3 + 81 * 8 + 512 * 2 + 40 * 8));
  // H = L = 1: two calls of one block, and the halt head.
  EXPECT_EQ(made.multiply_adds, 2 * (40 * 81 * 768 + 81 * 40 * 768) + 2 * 40);
}

TEST(ExportC, SmallerTilesTakeLessMemory) {
  const store::PackedModel model = packed(testing::sudoku_like());
  const CExport wide = export_c(model, {.name = "probe"});
  const CExport narrow = export_c(model, {.name = "probe", .tile = 1});
  EXPECT_LT(narrow.plain_c.bytes, wide.plain_c.bytes);
  EXPECT_EQ(narrow.hash, wide.hash);
}

TEST(ExportC, WritesTheKernelsAskedFor) {
  const store::PackedModel model = packed(testing::sudoku_like());
  EXPECT_EQ(export_c(model, {.name = "probe", .kernels = {"c"}}).files.size(), 2u);
  const CExport made = export_c(model, {.name = "probe", .section = ".extflash"});
  EXPECT_EQ(made.files.size(), 5u);
  EXPECT_NE(text_of(made, "probe.c").find("section(\".extflash\")"), std::string::npos);
  for (const CFile& file : made.files) {
    EXPECT_EQ(file.text.find("reasoner"), std::string::npos) << file.name;
    EXPECT_EQ(file.text.find("REASONER"), std::string::npos) << file.name;
    EXPECT_EQ(file.text.find("/*@"), std::string::npos) << file.name;
  }
}

}  // namespace
}  // namespace driftless::exporter
