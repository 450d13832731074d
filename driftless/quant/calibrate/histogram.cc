// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/calibrate/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/formats/float_bits.h"

namespace driftless::quant {
namespace {

/// Eight exponent bits and seven of the mantissa: 128 bins an octave.
constexpr int kBinShift = 16;

size_t bin_of(float value) { return formats::magnitude_bits(value) >> kBinShift; }

float lower_end(size_t bin) {
  return std::bit_cast<float>(static_cast<uint32_t>(bin) << kBinShift);
}

}  // namespace

float Histogram::middle_of(size_t bin) noexcept {
  return std::bit_cast<float>((static_cast<uint32_t>(bin) << kBinShift) | (1u << (kBinShift - 1)));
}

void Histogram::Side::add(size_t bin, uint64_t count) {
  if (counts.empty()) first = bin;
  if (bin < first) {
    counts.insert(counts.begin(), first - bin, 0);
    first = bin;
  }
  if (bin >= end()) counts.resize(bin - first + 1, 0);
  counts[bin - first] += count;
}

uint64_t Histogram::Side::at(size_t bin) const noexcept {
  return bin < first || bin >= end() ? 0 : counts[bin - first];
}

void Histogram::add(std::span<const float> values) {
  for (const float value : values) {
    DRIFTLESS_ASSERT(std::isfinite(value));
    (value < 0 ? negative_ : positive_).add(bin_of(value));
    extent_.low = std::min(extent_.low, value);
    extent_.high = std::max(extent_.high, value);
  }
  count_ += values.size();
}

void Histogram::widen(Extent extent, uint64_t count) {
  extent_.low = std::min(extent_.low, extent.low);
  extent_.high = std::max(extent_.high, extent.high);
  count_ += count;
}

void Histogram::merge(const Histogram& other) {
  for (size_t i = 0; i < other.negative_.counts.size(); ++i)
    negative_.add(other.negative_.first + i, other.negative_.counts[i]);
  for (size_t i = 0; i < other.positive_.counts.size(); ++i)
    positive_.add(other.positive_.first + i, other.positive_.counts[i]);
  widen(other.extent_, other.count_);
}

float Histogram::percentile(double percentile) const {
  DRIFTLESS_ASSERT(count_ > 0);
  const double rank = std::max(std::ceil(percentile / 100 * static_cast<double>(count_)), 1.0);
  const float largest = std::max(extent_.high, -extent_.low);
  uint64_t seen = 0;
  for (size_t bin = 0; bin < bin_of(largest); ++bin) {
    seen += negative_.at(bin) + positive_.at(bin);
    if (static_cast<double>(seen) >= rank) return lower_end(bin + 1);
  }
  return largest;
}

}  // namespace driftless::quant
