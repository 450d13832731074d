// SPDX-License-Identifier: Apache-2.0
// Where boards go under several schemes, seen from where the float model ends, in the plane that
// holds most of it. driftless/study/record/trace.h describes the JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "driftless/reason/reasoner.h"
#include "driftless/study/record/record.h"

namespace driftless::study {

/// Keeps z_L of every board, scheme and step.
class Basin {
 public:
  explicit Basin(size_t schemes) : paths_(schemes) {}

  /// The next board of the scheme, before its first step.
  void start(size_t scheme, const reason::States& states);
  /// A board after a step.
  void add(size_t scheme, size_t board, const reason::States& states);
  /// A board is over; `attractor` is the float model's last z_L.
  void finish(size_t board, std::span<const float> attractor);

  /// Requires at least one step of one board.
  [[nodiscard]] Json json() const;

 private:
  struct Path {
    std::vector<float> before;               // both states
    std::vector<std::vector<float>> latent;  // z_L after each step
    std::vector<double> residual;
  };

  std::vector<std::vector<Path>> paths_;  // by scheme and board
};

/// Throws BadFile where a list has another length, a JSON exception where a key is missing or of
/// another type.
void require_basin(const Json& basin, int64_t steps, size_t schemes, std::string_view where);

}  // namespace driftless::study
