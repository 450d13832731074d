// SPDX-License-Identifier: Apache-2.0
// How often each magnitude was seen, in bins of 1/128 octave: enough to find percentiles and
// least-error scales later, small enough to keep for every layer and call. Counts are integers, so
// neither the order nor the batching of the observations matters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/quant/scale/scale.h"

namespace driftless::quant {

class Histogram {
 public:
  /// Counts finite values, positive and negative ones apart.
  void add(std::span<const float> values);
  /// Takes in `count` values by their extent alone: percentiles and bins do not know of them.
  void widen(Extent extent, uint64_t count);

  /// Takes in all that another one saw.
  void merge(const Histogram& other);

  [[nodiscard]] uint64_t count() const noexcept { return count_; }
  /// Exact, zero included.
  [[nodiscard]] Extent extent() const noexcept { return extent_; }

  /// A magnitude m such that at least `percentile` percent of the values have |x| <= m: the upper
  /// end of the bin of the order statistic number ceil(p/100 * n), at most 1/128 above it, and
  /// never above the largest magnitude. Requires values.
  [[nodiscard]] float percentile(double percentile) const;

  /// Calls visit(value, count) for each occupied bin with the middle of the bin.
  template <class Visit>
  void for_each_bin(Visit visit) const {
    for (const Side* side : {&negative_, &positive_}) {
      const float sign = side == &negative_ ? -1.0f : 1.0f;
      for (size_t i = 0; i < side->counts.size(); ++i) {
        if (side->counts[i] > 0) visit(sign * middle_of(side->first + i), side->counts[i]);
      }
    }
  }

 private:
  /// Counts of the bins from `first` on. A bin is the top 15 bits of a magnitude.
  struct Side {
    size_t first = 0;
    std::vector<uint64_t> counts;
    void add(size_t bin, uint64_t count = 1);
    [[nodiscard]] uint64_t at(size_t bin) const noexcept;
    [[nodiscard]] size_t end() const noexcept { return first + counts.size(); }
  };
  static float middle_of(size_t bin) noexcept;

  Side negative_;
  Side positive_;
  uint64_t count_ = 0;
  Extent extent_;
};

}  // namespace driftless::quant
