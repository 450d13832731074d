// SPDX-License-Identifier: Apache-2.0
// A row-major matrix someone else owns. Rows are contiguous and follow one another without gaps.
#pragma once

#include <cstdint>
#include <span>

namespace driftless::quant {

template <class T>
struct MatView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;

  [[nodiscard]] std::span<T> row(int64_t index) const noexcept {
    return {data + index * cols, static_cast<size_t>(cols)};
  }
  [[nodiscard]] std::span<T> all() const noexcept {
    return {data, static_cast<size_t>(rows * cols)};
  }
  [[nodiscard]] int64_t size() const noexcept { return rows * cols; }
};

using ConstMat = MatView<const float>;
using Mat = MatView<float>;

}  // namespace driftless::quant
