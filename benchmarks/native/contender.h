// SPDX-License-Identifier: Apache-2.0
// What the native benchmarks share: random factors, and work that is timed in turn with others.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/quant/quantizer.h"

namespace driftless::native {

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline quant::QuantizedMatrix random_matrix(const char* spec, int64_t rows, int64_t cols,
                                            uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(rows * cols));
  for (float& x : values) x = static_cast<float>(rng.gaussian());
  return quant::Quantizer(quant::parse_quant_spec(spec)).quantize({values.data(), rows, cols});
}

/// A piece of work, its multiply-adds and its best time.
struct Contender {
  std::function<void()> work;
  double operations;
  double best = 1e9;

  /// Three times, so that the caches hold what the work uses and not what another left.
  void run() {
    for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of(work));
  }
  [[nodiscard]] double gops() const { return operations / best / 1e9; }
};

}  // namespace driftless::native
