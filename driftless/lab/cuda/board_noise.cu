// SPDX-License-Identifier: Apache-2.0
// base/rng.h on the device.
#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/noise_parts.h"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 32;

/// One thread per generator: what a limit leaves out moves all that follows. A thread tries one
/// pair per turn, so that threads of a warp whose pairs are rejected do not hold the others up.
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
    const Pair pair = next_pair(g);
    if (!pair.is_accepted()) continue;
    const double factor = pair.factor();
    take(pair.u * factor);
    if (written < shape.count) {
      take(pair.v * factor);
    } else {
      g.spare = pair.v * factor;
      g.has_spare = 1;
    }
  }
  generators[slots[index]] = g;
}

/// A block per generator, a thread per part.
__global__ void draw_parts(Generator* generators, const int64_t* slots, int64_t count,
                           NoiseParts parts, float* out) {
  __shared__ int64_t accepted[kNoiseParts];
  Generator& generator = generators[slots[blockIdx.x]];
  float* const mine = out + static_cast<int64_t>(blockIdx.x) * count;
  const int64_t part = threadIdx.x;
  Generator g = begin_of_part(generator, parts.leaps, part);
  accepted[part] = accepted_pairs(g, parts.pairs);
  __syncthreads();
  int64_t pair = 0;
  for (int64_t i = 0; i < part; ++i) pair += accepted[i];
  if (part == 0 && g.has_spare != 0) mine[0] = static_cast<float>(g.spare);
  if (write_part(g, parts.pairs, part == kNoiseParts - 1, pair, count, mine)) generator = g;
}

}  // namespace

void draw_normal(Generator* generators, const int64_t* slots, NoiseShape shape, float* out,
                 Stream stream) {
  draw<<<blocks_for(shape.slots, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      generators, slots, shape, out);
  check_launch("draw_normal");
}

void draw_standard_normal(Generator* generators, const int64_t* slots, int64_t slot_count,
                          int64_t count, NoiseParts parts, float* out, Stream stream) {
  draw_parts<<<static_cast<unsigned>(slot_count), kNoiseParts, 0,
               static_cast<cudaStream_t>(stream)>>>(generators, slots, count, parts, out);
  check_launch("draw_standard_normal");
}

}  // namespace driftless::lab::cuda
