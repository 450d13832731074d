// SPDX-License-Identifier: Apache-2.0
// The project's random numbers: xoshiro256**, seeded through splitmix64. Integers and uniforms are
// the same on every machine; Gaussians go through the C library's log and may differ in the last
// bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace driftless {

class Rng {
 public:
  explicit Rng(uint64_t seed) noexcept;

  /// 64 uniform bits.
  uint64_t next() noexcept;
  /// Uniform in [0, bound), without modulo bias. Requires bound > 0.
  uint64_t below(uint64_t bound) noexcept;
  /// Uniform in [0, 1), 53 bits.
  double uniform() noexcept;
  /// Standard normal (polar method).
  double gaussian() noexcept;

  /// The whole state, so that a run can be saved and continued.
  struct State {
    std::array<uint64_t, 4> words;
    std::optional<double> spare_gaussian;
  };
  [[nodiscard]] const State& state() const noexcept { return state_; }
  void restore(const State& state) noexcept { state_ = state; }

 private:
  State state_{};
};

}  // namespace driftless
