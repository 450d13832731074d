// SPDX-License-Identifier: Apache-2.0
// Attention and rotary positions against plain operations and autograd, in float64.
#include "driftless/lab/net/attention.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/lab/plain_net.h"
#include "tests/lab/tensors.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using testing::waves;

constexpr double kTolerance = 1e-12;  // sums of at most 37 terms of order 1 in float64

TEST(Attention, TilesOfAnySizeGiveValuesAndGradientsOfThePlainForm) {
  constexpr int64_t kPositions = 37;
  const std::vector<int64_t> sizes = {2, 3, kPositions, 5};
  const auto leaves = [&] {
    std::vector<at::Tensor> made;
    for (const double step : {0.7, 1.1, 1.7})
      made.push_back(waves(sizes, step).mul_(2).set_requires_grad(true));
    return made;
  };
  const at::Tensor direction = waves(sizes, 0.3);
  const std::vector<at::Tensor> want = leaves();
  const at::Tensor expected = testing::plain_attention(want[0], want[1], want[2]);
  torch::autograd::backward({expected}, {direction});
  // One position at a time, an odd number, all but one, all.
  for (const int64_t tile : {int64_t{1}, int64_t{7}, kPositions - 1, kPositions}) {
    const std::vector<at::Tensor> got = leaves();
    const at::Tensor values = tiled_attention(got[0], got[1], got[2], tile * 2 * 3 * kPositions);
    torch::autograd::backward({values}, {direction});
    EXPECT_TRUE(at::allclose(values, expected, kTolerance, kTolerance)) << tile;
    for (size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(at::allclose(got[i].grad(), want[i].grad(), kTolerance, kTolerance))
          << tile << " " << i;
  }
  const std::vector<at::Tensor> got = leaves();
  EXPECT_TRUE(
      at::allclose(scaled_attention(got[0], got[1], got[2]), expected, kTolerance, kTolerance));
}

TEST(Rope, RefusesAnotherShape) {
  model::ModelConfig config;
  config.hidden_size = 32;
  config.num_heads = 2;
  config.seq_len = 6;
  config.puzzle_emb_len = 0;
  const RopeTables tables = rope_tables(config, at::kCPU);
  at::Tensor short_of_a_row = at::zeros({2, 5, 96});
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "[boards, 6, 3 D]",
                                   [&] { rotate_in_place(short_of_a_row, tables, Turn::Forward); });
  at::Tensor narrow_heads = at::zeros({2, 6, 24});
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "heads of 16",
                                   [&] { rotate_in_place(narrow_heads, tables, Turn::Forward); });
}

TEST(Rope, TurningBackUndoesTurning) {
  model::ModelConfig config;
  config.arch = model::Arch::Eqr;
  config.positions = model::Positions::Rope2d;
  config.board_width = 3;
  config.hidden_size = 32;
  config.num_heads = 2;
  config.seq_len = 6;
  config.puzzle_emb_len = 0;
  const RopeTables tables = rope_tables(config, at::kCPU);
  const at::Tensor start = waves({2, 6, 96}, 0.37);
  at::Tensor values = start.clone();
  rotate_in_place(values, tables, Turn::Forward);
  EXPECT_FALSE(at::allclose(values, start));
  EXPECT_TRUE(at::equal(values.narrow(2, 64, 32), start.narrow(2, 64, 32)));
  rotate_in_place(values, tables, Turn::Back);
  // cos^2 + sin^2 of float32 tables is 1 up to two roundings.
  EXPECT_TRUE(at::allclose(values, start, 0, 0x1p-22));
}

}  // namespace
}  // namespace driftless::lab
