// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/feedback/moments.h"

#include <algorithm>
#include <functional>

#include "driftless/base/error.h"

namespace driftless::quant {
namespace {

constexpr int64_t kTileRows = 4;
constexpr int64_t kTileColumns = 8;

int64_t padded(int64_t length) { return (length + kTileColumns - 1) / kTileColumns * kTileColumns; }

void pad_rows(ConstMat in, std::vector<float>& out) {
  const int64_t stride = padded(in.cols);
  out.assign(static_cast<size_t>(in.rows * stride), 0.0f);
  for (int64_t row = 0; row < in.rows; ++row)
    std::copy_n(in.row(row).data(), in.cols, out.data() + row * stride);
}

/// sums[i, j] += sum over rows of left[row, i] * right[row, j], for j from columns_from(i) on. The
/// rows of one call are added in float32, calls in float64.
template <class ColumnsFrom>
void add_products(const std::vector<float>& left, const std::vector<float>& right, int64_t length,
                  ColumnsFrom columns_from, std::vector<double>& sums) {
  const int64_t stride = padded(length);
  const int64_t rows = std::ssize(left) / stride;
  for (int64_t i = 0; i < length; i += kTileRows) {
    for (int64_t j = columns_from(i); j < length; j += kTileColumns) {
      float tile[kTileRows][kTileColumns] = {};
      for (int64_t row = 0; row < rows; ++row) {
        const float* const x = left.data() + row * stride + i;
        const float* const y = right.data() + row * stride + j;
        for (int64_t p = 0; p < kTileRows; ++p)
          for (int64_t q = 0; q < kTileColumns; ++q) tile[p][q] += x[p] * y[q];
      }
      for (int64_t p = 0; p < std::min(kTileRows, length - i); ++p)
        for (int64_t q = 0; q < std::min(kTileColumns, length - j); ++q)
          sums[static_cast<size_t>((i + p) * length + j + q)] += static_cast<double>(tile[p][q]);
    }
  }
}

void add_to(const std::vector<double>& more, std::vector<double>& sums) {
  if (sums.empty()) sums.resize(more.size());
  std::transform(more.begin(), more.end(), sums.begin(), sums.begin(), std::plus<>());
}

}  // namespace

void InputMoments::start(int64_t length) {
  DRIFTLESS_ASSERT(length_ == 0 || length_ == length);
  length_ = length;
  upper_.resize(static_cast<size_t>(length * length));
}

void InputMoments::add(ConstMat inputs) {
  start(inputs.cols);
  rows_ += inputs.rows;
  pad_rows(inputs, left_);
  add_products(
      left_, left_, length_, [](int64_t i) { return i / kTileColumns * kTileColumns; }, upper_);
}

void InputMoments::add(ConstMat inputs, ConstMat exact) {
  DRIFTLESS_ASSERT(inputs.rows == exact.rows && inputs.cols == exact.cols);
  add(inputs);
  crossed_.resize(upper_.size());
  pad_rows(exact, right_);
  add_products(
      right_, left_, length_, [](int64_t) { return int64_t{0}; }, crossed_);
}

void InputMoments::merge(const InputMoments& other) {
  if (other.length_ == 0) return;
  start(other.length_);
  rows_ += other.rows_;
  add_to(other.upper_, upper_);
  if (!other.crossed_.empty()) add_to(other.crossed_, crossed_);
}

std::vector<double> InputMoments::squares() const {
  std::vector<double> all = upper_;
  for (int64_t i = 0; i < length_; ++i)
    for (int64_t j = 0; j < i; ++j)
      all[static_cast<size_t>(i * length_ + j)] = all[static_cast<size_t>(j * length_ + i)];
  return all;
}

}  // namespace driftless::quant
