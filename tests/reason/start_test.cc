// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/start.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::reason {
namespace {

model::ModelConfig small_config() {
  model::ModelConfig config;
  config.seq_len = 4;
  config.vocab_size = 6;
  config.num_puzzle_identifiers = 2;
  return config;
}

TEST(Start, RefusesBoardsThatDoNotFit) {
  const model::ModelConfig config = small_config();
  std::vector<uint8_t> tokens = {1, 2, 3, 5};
  require_fits(config, {.tokens = tokens, .puzzle = 1});
  const auto code = ErrorCode::InvalidArgument;
  EXPECT_ERROR(require_fits(config, {.tokens = tokens, .puzzle = 2}), code, "expected 0 to 1");
  EXPECT_ERROR(require_fits(config, {.tokens = tokens, .puzzle = -1}), code, "puzzle row -1");
  tokens[2] = 6;
  EXPECT_ERROR(require_fits(config, {.tokens = tokens}), code, "cell 2; got token 6");
  tokens.pop_back();
  EXPECT_ERROR(require_fits(config, {.tokens = tokens}), code, "3 cells, expected 4");
}

TEST(Start, RefusesSlotsThatAreNamedTwice) {
  const auto check = [](std::vector<int64_t> slots) { require_distinct(slots); };
  check({});
  check({3});
  check({0, 1, 5});
  check({5, 0, 6, 1});
  const auto code = ErrorCode::InvalidArgument;
  EXPECT_ERROR(check({4, 4}), code, "slot 4: named twice");
  EXPECT_ERROR(check({0, 2, 3, 2}), code, "slot 2: named twice");
  EXPECT_ERROR(check({7, 0, 3, 0}), code, "slot 0: named twice");
}

TEST(Start, TruncatedNormalHasItsDeviationAndEdge) {
  constexpr int kCount = 200000;
  Rng rng(4);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = truncated_normal(rng, 3);
    EXPECT_LE(std::abs(value), 3 * kTruncation * kTruncatedScale * (1 + 0x1p-23));
    sum += value;
    squares += value * value;
  }
  // Standard errors: of the mean 3 / sqrt(n) = 0.007, of the deviation below 3 / sqrt(2 n) = 0.005.
  EXPECT_NEAR(sum / kCount, 0, 0.035);
  EXPECT_NEAR(std::sqrt(squares / kCount), 3, 0.025);
}

}  // namespace
}  // namespace driftless::reason
