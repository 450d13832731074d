// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/config.h"

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/model/presets.h"

#include "tests/testing/expect_error.h"

namespace driftless::model {
namespace {

using driftless::testing::expect_error;

TEST(ModelConfig, EnumNamesRoundTrip) {
  for (const Architecture& row : architectures())
    EXPECT_EQ(parse_arch(to_string(row.value), ""), row.value);
  for (const auto& row : kPositionsNames)
    EXPECT_EQ(parse_positions(to_string(row.value), ""), row.value);
  for (const auto& row : kForwardDtypeNames)
    EXPECT_EQ(parse_forward_dtype(to_string(row.value), ""), row.value);
}

TEST(ModelConfig, UnknownNamesGetTheNearest) {
  expect_error(ErrorCode::BadConfig, "mean 'rope2d'", [] { parse_positions("rope2D", "x"); });
  expect_error(ErrorCode::BadConfig, "mean 'trm'", [] { parse_arch("tmr", "x"); });
  expect_error(ErrorCode::BadConfig, "float16", [] { parse_forward_dtype("float8", "x"); });
}

struct Violation {
  const char* preset;
  std::function<void(ModelConfig&)> spoil;
  const char* word;
};

TEST(ModelConfig, EachViolationIsNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Violation violations[] = {
      {"trm-sudoku-att", [](ModelConfig& c) { c.vocab_size = 0; }, "vocab_size"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.seq_len = 0; }, "seq_len"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.hidden_size = 1 << 20; }, "hidden_size"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.num_layers = 0; }, "num_layers"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.h_layers = 1; }, "H_layers"},
      {"hrm-sudoku", [](ModelConfig& c) { c.h_layers = 0; }, "H_layers"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.puzzle_emb_len = -1; }, "puzzle_emb_len"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.puzzle_emb_ndim = 16 * 512 + 1; }, "8192"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.num_puzzle_identifiers = 0; }, "identifiers"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.h_cycles = 0; }, "H_cycles"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.l_cycles = 257; }, "L_cycles"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.halt_max_steps = 0; }, "halt_max_steps"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.expansion = 0; }, "expansion"},
      {"trm-sudoku-att", [=](ModelConfig& c) { c.rms_norm_eps = nan; }, "rms_norm_eps"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.rope_theta = 0; }, "rope_theta"},
      {"eqr-sudoku", [](ModelConfig& c) { c.lambda = 1.5; }, "lambda_"},
      {"eqr-sudoku", [](ModelConfig& c) { c.noise_scale = -1; }, "noise_scale"},
      {"eqr-sudoku", [=](ModelConfig& c) { c.h_init_std = nan; }, "H_init_std"},
      {"eqr-sudoku", [](ModelConfig& c) { c.l_init_std = -1; }, "L_init_std"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.num_heads = 7; }, "num_heads"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.num_heads = 512; }, "head width 1"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.positions = Positions::Rope2d; }, "board_width"},
      {"trm-sudoku-att", [](ModelConfig& c) { c.halt_confirm_steps = -1; }, "halt_confirm_steps"},
      {"trm-sudoku-att", [=](ModelConfig& c) { c.halt_threshold = nan; }, "halt_threshold"},
      {"eqr-maze-unique", [](ModelConfig& c) { c.positions = Positions::Learned; }, "pos_enc"},
      {"eqr-maze-unique", [](ModelConfig& c) { c.positions = Positions::Rope2d; }, "board_width"},
      {"trm-sudoku-mlp", [](ModelConfig& c) { c.positions = Positions::Rope; }, "token mixer"},
      {"hrm-sudoku", [](ModelConfig& c) { c.mixer = Mixer::Tokens; }, "token mixer"},
  };
  for (const Violation& violation : violations) {
    ModelConfig config = find_preset(violation.preset).config;
    EXPECT_NO_THROW(validate(config, "file"));
    violation.spoil(config);
    expect_error(ErrorCode::BadConfig, violation.word, [&] { validate(config, "file"); });
    expect_error(ErrorCode::BadConfig, "file: ", [&] { validate(config, "file"); });
  }
}

TEST(ModelConfig, EveryArchitectureMayMixTokensAndRotateInTwoDimensions) {
  for (const Arch arch : {Arch::Trm, Arch::Hrm, Arch::Eqr}) {
    ModelConfig config = find_preset("eqr-maze-unique").config;
    config.arch = arch;
    config.h_layers = arch == Arch::Hrm ? 1 : 0;
    config.positions = Positions::Rope2d;
    config.board_width = 30;
    EXPECT_NO_THROW(validate(config, ""));
    config.mixer = Mixer::Tokens;
    config.positions = Positions::None;
    EXPECT_NO_THROW(validate(config, ""));
  }
}

TEST(ModelConfig, Rope2dNeedsABoardAndNoPrefix) {
  ModelConfig config = find_preset("eqr-maze-unique").config;
  config.positions = Positions::Rope2d;
  config.board_width = 30;
  EXPECT_NO_THROW(validate(config, ""));
  config.puzzle_emb_len = 16;
  config.puzzle_emb_ndim = 128;
  expect_error(ErrorCode::BadConfig, "prefix", [&] { validate(config, ""); });
}

}  // namespace
}  // namespace driftless::model
