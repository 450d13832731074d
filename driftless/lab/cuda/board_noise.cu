// SPDX-License-Identifier: Apache-2.0
// base/rng.h on the device: one thread per generator, since a generator's numbers depend on each
// other. A thread tries one pair of the polar method per turn, so that threads of a warp whose
// pairs are rejected do not hold the others up. Products and sums are not fused, so the pairs and
// their order are those of the host; only the logarithm may differ in its last bit.
#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 32;

__device__ uint64_t rotated_left(uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

__device__ uint64_t next(Generator& g) {
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

/// Uniform in [-1, 1), exact.
__device__ double symmetric(Generator& g) {
  return static_cast<double>(next(g) >> 11) * 0x1p-52 - 1.0;
}

__global__ void draw(Generator* generators, const int64_t* slots, NoiseShape shape, float* out) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= shape.slots) return;
  Generator g = generators[slots[index]];
  float* const mine = out + index * shape.count;
  int64_t written = 0;
  const auto take = [&](double value) {
    if (fabs(value) <= shape.limit) mine[written++] = static_cast<float>(value * shape.scale);
  };
  if (g.has_spare != 0 && shape.count > 0) {
    g.has_spare = 0;
    take(g.spare);
  }
  while (written < shape.count) {
    const double u = symmetric(g);
    const double v = symmetric(g);
    const double square = __dadd_rn(__dmul_rn(u, u), __dmul_rn(v, v));
    if (square >= 1 || square == 0) continue;
    const double factor = sqrt(-2 * log(square) / square);
    take(u * factor);
    if (written < shape.count) {
      take(v * factor);
    } else {
      g.spare = v * factor;
      g.has_spare = 1;
    }
  }
  generators[slots[index]] = g;
}

}  // namespace

void draw_normal(Generator* generators, const int64_t* slots, NoiseShape shape, float* out,
                 Stream stream) {
  draw<<<blocks_for(shape.slots, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      generators, slots, shape, out);
  check_launch("draw_normal");
}

}  // namespace driftless::lab::cuda
