// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/rng.h"

#include <bit>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless {

Rng::Rng(uint64_t seed) noexcept {
  for (uint64_t& word : state_.words) {
    seed += 0x9e3779b97f4a7c15u;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    word = z ^ (z >> 31);
  }
}

uint64_t Rng::next() noexcept {
  auto& s = state_.words;
  const uint64_t result = std::rotl(s[1] * 5, 7) * 9;
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

uint64_t Rng::below(uint64_t bound) noexcept {
  DRIFTLESS_ASSERT(bound > 0);
  const uint64_t reject_below = (0 - bound) % bound;
  uint64_t draw = next();
  while (draw < reject_below) draw = next();
  return draw % bound;
}

double Rng::uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Rng::gaussian() noexcept {
  if (state_.spare_gaussian) {
    const double spare = *state_.spare_gaussian;
    state_.spare_gaussian.reset();
    return spare;
  }
  double u = 0;
  double v = 0;
  double square = 0;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  state_.spare_gaussian = v * factor;
  return u * factor;
}

}  // namespace driftless
