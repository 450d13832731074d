// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/reasoner/board_noise.h"

#include <algorithm>
#include <cstring>

#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/noise_parts.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/reasoner/leap.h"
#include "driftless/reason/start.h"

namespace driftless::lab {
namespace {

constexpr auto kGeneratorBytes = static_cast<int64_t>(sizeof(cuda::Generator));

at::Tensor index_of(std::span<const int64_t> slots, at::Device device) {
  at::Tensor index = at::empty({std::ssize(slots)}, at::kLong);
  std::copy(slots.begin(), slots.end(), index.data_ptr<int64_t>());
  return index.to(device);
}

}  // namespace

BoardNoise::BoardNoise(const Options& options)
    : options_(options), pool_(options.device.is_cuda() ? 1 : options.threads) {
  if (!options.device.is_cuda()) {
    rngs_.assign(static_cast<size_t>(options.slots), Rng(0));
    return;
  }
  generators_ = at::zeros({options.slots, kGeneratorBytes},
                          at::TensorOptions(at::kByte).device(options.device));
  pairs_ = cuda::pairs_of_part(options.count);
  const std::vector<Leap> leaps = doubling_leaps(2 * pairs_, cuda::kNoiseLeaps);
  leaps_ = at::empty({std::ssize(leaps), kRngBits, 4}, at::kLong);
  std::memcpy(leaps_.data_ptr(), leaps.data(), leaps.size() * sizeof(Leap));
  leaps_ = leaps_.to(options.device);
}

void BoardNoise::seed(std::span<const int64_t> slots, std::span<const uint64_t> seeds) {
  if (!options_.device.is_cuda()) {
    for (size_t i = 0; i < slots.size(); ++i) rngs_[static_cast<size_t>(slots[i])] = Rng(seeds[i]);
    return;
  }
  at::Tensor bytes = at::empty({std::ssize(slots), kGeneratorBytes}, at::kByte);
  for (size_t i = 0; i < slots.size(); ++i) {
    const cuda::Generator generator = cuda::generator_of(Rng(seeds[i]));
    std::memcpy(bytes.data_ptr<uint8_t>() + static_cast<int64_t>(i) * kGeneratorBytes, &generator,
                sizeof(generator));
  }
  generators_.index_copy_(0, index_of(slots, options_.device), bytes.to(options_.device));
}

template <class Draw>
at::Tensor BoardNoise::draw_here(std::span<const int64_t> slots, Draw draw) {
  at::Tensor values = at::empty({std::ssize(slots), options_.count}, at::kFloat);
  float* const data = values.data_ptr<float>();
  pool_.parallel_for(std::ssize(slots), [&](int64_t i, int64_t) {
    Rng& rng = rngs_[static_cast<size_t>(slots[static_cast<size_t>(i)])];
    std::generate_n(data + i * options_.count, options_.count, [&] { return draw(rng); });
  });
  return values;
}

template <class Kernel>
at::Tensor BoardNoise::draw_there(std::span<const int64_t> slots, Kernel kernel) {
  at::Tensor values = at::empty({std::ssize(slots), options_.count},
                                at::TensorOptions(at::kFloat).device(options_.device));
  const at::Tensor index = index_of(slots, options_.device);
  kernel(reinterpret_cast<cuda::Generator*>(generators_.data_ptr()), index.data_ptr<int64_t>(),
         values.data_ptr<float>());
  return values;
}

at::Tensor BoardNoise::truncated_normal(std::span<const int64_t> slots, double deviation) {
  if (!options_.device.is_cuda())
    return draw_here(slots, [=](Rng& rng) { return reason::truncated_normal(rng, deviation); });
  const cuda::NoiseShape shape{.slots = std::ssize(slots),
                               .count = options_.count,
                               .limit = reason::kTruncation,
                               .scale = reason::kTruncatedScale * deviation};
  return draw_there(slots, [&](cuda::Generator* generators, const int64_t* index, float* out) {
    cuda::draw_normal(generators, index, shape, out, current_stream());
  });
}

at::Tensor BoardNoise::standard_normal(std::span<const int64_t> slots) {
  if (!options_.device.is_cuda())
    return draw_here(slots, [](Rng& rng) { return static_cast<float>(rng.gaussian()); });
  const cuda::NoiseParts parts{
      .pairs = pairs_, .leaps = reinterpret_cast<const uint64_t*>(leaps_.data_ptr<int64_t>())};
  return draw_there(slots, [&](cuda::Generator* generators, const int64_t* index, float* out) {
    cuda::draw_standard_normal(generators, index, std::ssize(slots), options_.count, parts, out,
                               current_stream());
  });
}

}  // namespace driftless::lab
