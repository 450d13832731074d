// SPDX-License-Identifier: Apache-2.0
// What the threads of a device do with a generator, done by loops.
#include "driftless/lab/cuda/noise_parts.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"
#include "driftless/lab/reasoner/leap.h"

namespace driftless::lab::cuda {
namespace {

/// The kernel, part by part.
std::vector<float> draw(Generator& generator, int64_t count, int64_t pairs) {
  const std::vector<Leap> leaps = doubling_leaps(2 * pairs, kNoiseLeaps);
  const Generator start = generator;
  std::vector<float> out(static_cast<size_t>(count));
  if (start.has_spare != 0) out[0] = static_cast<float>(start.spare);
  int64_t accepted = 0;
  int enders = 0;
  for (int64_t part = 0; part < kNoiseParts; ++part) {
    Generator g = begin_of_part(start, leaps[0][0].data(), part);
    const int64_t before = accepted;
    accepted += accepted_pairs(g, pairs);
    if (!write_part(g, pairs, part == kNoiseParts - 1, before, count, out.data())) continue;
    generator = g;
    ++enders;
  }
  EXPECT_EQ(enders, 1);
  return out;
}

std::vector<float> drawn_one_by_one(Rng& rng, int64_t count) {
  std::vector<float> out(static_cast<size_t>(count));
  std::generate(out.begin(), out.end(), [&] { return static_cast<float>(rng.gaussian()); });
  return out;
}

TEST(Leap, PassesAsManyNumbers) {
  const std::vector<Leap> leaps = doubling_leaps(37, 3);
  for (const size_t i : {0u, 1u, 2u}) {
    Rng rng(5);
    const RngWords start = rng.state().words;
    for (int step = 0; step < 37 << i; ++step) rng.next();
    EXPECT_EQ(leaped(leaps[i], start), rng.state().words);
  }
}

TEST(NoiseParts, AreTheNumbersOfTheGenerator) {
  for (const int64_t count : {2, 3, 64, 1001, 20736}) {
    Rng rng(static_cast<uint64_t>(count));
    Generator generator = generator_of(rng);
    for (int call = 0; call < 3; ++call) {  // odd counts leave a spare value
      EXPECT_EQ(draw(generator, count, pairs_of_part(count)), drawn_one_by_one(rng, count));
      const Generator expected = generator_of(rng);
      EXPECT_TRUE(std::equal(generator.words, generator.words + 4, expected.words));
      EXPECT_EQ(generator.has_spare, expected.has_spare);
      EXPECT_EQ(generator.spare, expected.spare);
    }
  }
}

TEST(NoiseParts, TheLastPartTriesOnWherePairsAreMissing) {
  Rng rng(1);
  Generator generator = generator_of(rng);
  EXPECT_EQ(draw(generator, 1000, 2), drawn_one_by_one(rng, 1000));
}

}  // namespace
}  // namespace driftless::lab::cuda
