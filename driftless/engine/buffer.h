// SPDX-License-Identifier: Apache-2.0
// Floats on cache-line boundaries, zero at first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace driftless::engine {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t count)
      : values_(static_cast<float*>(
            ::operator new(static_cast<size_t>(count) * sizeof(float), kAlignment))),
        count_(count) {
    std::fill_n(values_.get(), count, 0.0f);
  }
  explicit Buffer(std::span<const float> values) : Buffer(std::ssize(values)) {
    std::copy(values.begin(), values.end(), values_.get());
  }

  [[nodiscard]] float* data() { return values_.get(); }
  [[nodiscard]] const float* data() const { return values_.get(); }
  [[nodiscard]] std::span<float> span() { return {data(), static_cast<size_t>(count_)}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(float* values) const { ::operator delete(values, kAlignment); }
  };
  std::unique_ptr<float, Delete> values_;
  int64_t count_ = 0;
};

}  // namespace driftless::engine
