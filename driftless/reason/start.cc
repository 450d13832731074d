// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/start.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::reason {

void require_fits(const model::ModelConfig& config, const Board& board) {
  DRIFTLESS_REQUIRE(std::ssize(board.tokens) == config.seq_len, ErrorCode::InvalidArgument,
                    "board; got ", board.tokens.size(), " cells, expected ", config.seq_len,
                    " as the model has");
  for (size_t cell = 0; cell < board.tokens.size(); ++cell)
    DRIFTLESS_REQUIRE(board.tokens[cell] < config.vocab_size, ErrorCode::InvalidArgument,
                      "board, cell ", cell, "; got token ", int{board.tokens[cell]},
                      ", expected below ", config.vocab_size);
  if (config.puzzle_emb_len > 0)
    DRIFTLESS_REQUIRE(board.puzzle >= 0 && board.puzzle < config.num_puzzle_identifiers,
                      ErrorCode::InvalidArgument, "board; got puzzle row ", board.puzzle,
                      ", expected 0 to ", config.num_puzzle_identifiers - 1);
}

void require_distinct(std::span<const int64_t> slots) {
  int64_t highest = -1;
  for (size_t i = 0; i < slots.size(); ++i) {
    // A slot above all earlier ones is new; only slots out of order are looked up.
    if (slots[i] > highest) {
      highest = slots[i];
      continue;
    }
    const auto before = slots.first(i);
    DRIFTLESS_REQUIRE(std::find(before.begin(), before.end(), slots[i]) == before.end(),
                      ErrorCode::InvalidArgument, "slot ", slots[i],
                      ": named twice in one step; expected distinct slots");
  }
}

float truncated_normal(Rng& rng, double deviation) {
  for (;;) {
    const double value = rng.gaussian();
    if (std::abs(value) <= kTruncation)
      return static_cast<float>(value * kTruncatedScale * deviation);
  }
}

}  // namespace driftless::reason
