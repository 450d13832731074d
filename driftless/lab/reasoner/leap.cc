// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/reasoner/leap.h"

#include "driftless/base/rng.h"
#include "driftless/lab/cuda/noise_parts.h"

namespace driftless::lab {
namespace {

Leap one_step() {
  Leap leap{};
  for (size_t j = 0; j < leap.size(); ++j) {
    Rng rng(0);
    Rng::State state{};
    state.words[j / 64] = uint64_t{1} << (j % 64);
    rng.restore(state);
    rng.next();
    leap[j] = rng.state().words;
  }
  return leap;
}

/// First b, then a.
Leap composed(const Leap& a, const Leap& b) {
  Leap result{};
  for (size_t j = 0; j < result.size(); ++j) result[j] = leaped(a, b[j]);
  return result;
}

Leap by_steps(int64_t steps) {
  Leap power = one_step();
  Leap result{};
  for (size_t j = 0; j < result.size(); ++j) result[j][j / 64] = uint64_t{1} << (j % 64);
  for (; steps > 0; steps /= 2) {
    if (steps % 2 == 1) result = composed(power, result);
    power = composed(power, power);
  }
  return result;
}

}  // namespace

RngWords leaped(const Leap& leap, RngWords words) {
  cuda::take_leap(leap[0].data(), words.data());
  return words;
}

std::vector<Leap> doubling_leaps(int64_t steps, int64_t count) {
  std::vector<Leap> leaps;
  leaps.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    leaps.push_back(i == 0 ? by_steps(steps) : composed(leaps.back(), leaps.back()));
  return leaps;
}

}  // namespace driftless::lab
