// SPDX-License-Identifier: Apache-2.0
// Numbers on cache-line boundaries, zero at first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace driftless {

template <class Value>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(int64_t count)
      : values_(static_cast<Value*>(
            ::operator new(static_cast<size_t>(count) * sizeof(Value), kAlignment))),
        count_(count) {
    std::fill_n(values_.get(), count, Value{});
  }
  explicit AlignedArray(std::span<const Value> values) : AlignedArray(std::ssize(values)) {
    std::copy(values.begin(), values.end(), values_.get());
  }

  [[nodiscard]] Value* data() { return values_.get(); }
  [[nodiscard]] const Value* data() const { return values_.get(); }
  [[nodiscard]] std::span<Value> span() { return {data(), static_cast<size_t>(count_)}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(Value* values) const { ::operator delete(values, kAlignment); }
  };
  std::unique_ptr<Value, Delete> values_;
  int64_t count_ = 0;
};

using Buffer = AlignedArray<float>;

}  // namespace driftless
