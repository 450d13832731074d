// SPDX-License-Identifier: Apache-2.0
// Leaps of base/rng.h: xoshiro256 is linear over bits, so any number of its steps is a matrix that
// is applied at once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace driftless::lab {

constexpr int64_t kRngBits = 256;
using RngWords = std::array<uint64_t, 4>;
/// Column j is where a state with bit j alone leaps to.
using Leap = std::array<RngWords, kRngBits>;

RngWords leaped(const Leap& leap, RngWords words);

/// Leaps by `steps` steps, twice as many, four times as many and so on.
std::vector<Leap> doubling_leaps(int64_t steps, int64_t count);

}  // namespace driftless::lab
