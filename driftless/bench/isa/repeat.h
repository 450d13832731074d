// SPDX-License-Identifier: Apache-2.0
// Repeats an instruction on independent registers, enough of them to hide its latency.
#pragma once

#include <cstddef>
#include <cstdint>

namespace driftless::bench {

/// Op: a vector type V, the multiply-adds kPerVector of one instruction, and step(V& sum, V a),
/// which must be volatile assembly, so that no repetition is left out.
template <class Op>
int64_t repeat(int64_t rounds) noexcept {
  constexpr size_t kChains = 12;
  typename Op::V sums[kChains] = {};
  const typename Op::V operand = {};
  for (int64_t round = rounds; round > 0; --round) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kChains; ++i) Op::step(sums[i], operand);
  }
  return rounds * static_cast<int64_t>(kChains) * Op::kPerVector;
}

}  // namespace driftless::bench
