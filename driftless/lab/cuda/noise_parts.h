// SPDX-License-Identifier: Apache-2.0
// The Gaussians of one generator by many threads, equal to base/rng.h's. The polar method tries
// pairs of uniforms, two steps of the generator each, and accepts four of five. A thread leaps to
// its part of the pairs and counts what it accepts; the counts of the parts before say where its
// values go. For host and device, so that a CPU can test it.
#pragma once

#include <cmath>
#include <cstdint>

#include "driftless/base/rng.h"
#include "driftless/lab/cuda/kernels.h"

#ifdef __CUDACC__
#define DRIFTLESS_HOST_DEVICE __host__ __device__
#else
#define DRIFTLESS_HOST_DEVICE
#endif

namespace driftless::lab::cuda {

inline Generator generator_of(const Rng& rng) {
  const Rng::State& state = rng.state();
  const auto& words = state.words;
  return {{words[0], words[1], words[2], words[3]},
          state.spare_gaussian.value_or(0),
          state.spare_gaussian.has_value() ? 1 : 0};
}

DRIFTLESS_HOST_DEVICE inline uint64_t rotated_left(uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

DRIFTLESS_HOST_DEVICE inline uint64_t next(Generator& g) {
  const uint64_t result = rotated_left(g.words[1] * 5, 7) * 9;
  const uint64_t t = g.words[1] << 17;
  g.words[2] ^= g.words[0];
  g.words[3] ^= g.words[1];
  g.words[1] ^= g.words[2];
  g.words[0] ^= g.words[3];
  g.words[2] ^= t;
  g.words[3] = rotated_left(g.words[3], 45);
  return result;
}

/// A point of the square [-1, 1)^2 and its squared distance from the middle.
struct Pair {
  double u, v, square;

  [[nodiscard]] DRIFTLESS_HOST_DEVICE bool is_accepted() const { return square < 1 && square != 0; }
  [[nodiscard]] DRIFTLESS_HOST_DEVICE double factor() const {
    return sqrt(-2 * log(square) / square);
  }
};

/// Products and sums are not fused, so the pairs and their order are those of the host; only the
/// logarithm may differ in its last bit.
DRIFTLESS_HOST_DEVICE inline Pair next_pair(Generator& g) {
  const double u = static_cast<double>(next(g) >> 11) * 0x1p-52 - 1.0;
  const double v = static_cast<double>(next(g) >> 11) * 0x1p-52 - 1.0;
#ifdef __CUDA_ARCH__
  return {u, v, __dadd_rn(__dmul_rn(u, u), __dmul_rn(v, v))};
#else
  return {u, v, u * u + v * v};
#endif
}

/// The state of a generator after a leap, 256 columns of four words each (lab/reasoner/leap.h).
DRIFTLESS_HOST_DEVICE inline void take_leap(const uint64_t* leap, uint64_t* words) {
  uint64_t result[4] = {};
  for (int word = 0; word < 4; ++word)
    for (int bit = 0; bit < 64; ++bit) {
      const uint64_t mask = 0 - (words[word] >> bit & 1);
      const uint64_t* const column = leap + 4 * (64 * word + bit);
      for (int i = 0; i < 4; ++i) result[i] ^= mask & column[i];
    }
  for (int i = 0; i < 4; ++i) words[i] = result[i];
}

/// `g` at the begin of a part; leap number i of `leaps` passes 2^i parts.
DRIFTLESS_HOST_DEVICE inline Generator begin_of_part(Generator g, const uint64_t* leaps,
                                                     int64_t part) {
  for (; part > 0; part /= 2, leaps += 256 * 4)
    if (part % 2 == 1) take_leap(leaps, g.words);
  return g;
}

DRIFTLESS_HOST_DEVICE inline int64_t accepted_pairs(Generator g, int64_t pairs) {
  int64_t accepted = 0;
  for (int64_t i = 0; i < pairs; ++i) accepted += next_pair(g).is_accepted() ? 1 : 0;
  return accepted;
}

/// Writes the values of a part, from pair number `pair` of the accepted ones on, after those of a
/// spare value; the last part tries as many pairs as are missing. Returns whether the last value is
/// among them: then `g` is what the generator becomes.
DRIFTLESS_HOST_DEVICE inline bool write_part(Generator& g, int64_t pairs, bool is_last,
                                             int64_t pair, int64_t count, float* out) {
  int64_t at = 2 * pair + g.has_spare;
  for (int64_t i = 0; (i < pairs || is_last) && at < count; ++i) {
    const Pair tried = next_pair(g);
    if (!tried.is_accepted()) continue;
    const double factor = tried.factor();
    out[at] = static_cast<float>(tried.u * factor);
    if (at + 1 < count) out[at + 1] = static_cast<float>(tried.v * factor);
    at += 2;
    if (at < count) continue;
    g.has_spare = at - count;
    g.spare = g.has_spare != 0 ? tried.v * factor : 0;
    return true;
  }
  return false;
}

}  // namespace driftless::lab::cuda
