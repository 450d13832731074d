// SPDX-License-Identifier: Apache-2.0
// Any codes and block exponents make, on every kernel set and any number of threads, the sums of
// 64-bit arithmetic, or an Error. The first bytes pick formats and lengths; the rest are codes and
// scales, repeated as often as needed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/integer/product.h"
#include "driftless/quant/runs.h"

namespace {

using namespace driftless;
using integer::KernelSet;

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t next() { return data_[at_++ % size_]; }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

constexpr std::array kSpecs = {"mxint4,window=4", "mxint4,window=7", "mxint8,window=3", "mxint4",
                               "mxint8",          "int8_full/token", "mxint2,window=6"};

quant::QuantizedMatrix matrix_of(Bytes& bytes, int64_t rows, int64_t cols) {
  quant::QuantizedMatrix matrix{
      .spec = quant::parse_quant_spec(kSpecs[bytes.next() % kSpecs.size()]),
      .rows = rows,
      .cols = cols};
  const unsigned mask = (1u << matrix.spec.format->element.bits) - 1;
  for (int64_t i = 0; i < rows * cols; ++i) {
    matrix.codes.push_back(static_cast<uint8_t>(bytes.next() & mask));
  }
  for (int64_t i = quant::run_count(matrix.spec, rows, cols); i > 0; --i) {
    matrix.scales.floats.push_back({.scale = 0.5f});
    // Mostly close together, so that most matrices suit a window.
    const uint8_t byte = bytes.next();
    matrix.scales.codes.push_back(byte < 8 ? bytes.next() : static_cast<uint8_t>(120 + byte % 5));
  }
  const bool is_block = matrix.spec.granularity == quant::Granularity::Block;
  if (is_block) matrix.scales.floats.clear();
  if (!is_block) matrix.scales.codes.clear();
  return matrix;
}

/// Mantissas times 2^(exponent - base), with base the row's largest exponent minus the window.
std::vector<int64_t> integers_of(const quant::QuantizedMatrix& matrix, int64_t window) {
  const int bits = matrix.spec.format->element.bits;
  const auto blocks = static_cast<size_t>((matrix.cols + 31) / 32);
  std::vector<int64_t> integers;
  for (size_t row = 0; row < static_cast<size_t>(matrix.rows); ++row) {
    const uint8_t* const scales =
        matrix.scales.codes.empty() ? nullptr : matrix.scales.codes.data() + row * blocks;
    const int64_t top = scales == nullptr ? 0 : *std::max_element(scales, scales + blocks);
    for (size_t i = 0; i < static_cast<size_t>(matrix.cols); ++i) {
      int64_t mantissa = matrix.codes[row * static_cast<size_t>(matrix.cols) + i];
      if (mantissa >= int64_t{1} << (bits - 1)) mantissa -= int64_t{1} << bits;
      const int64_t shift = scales == nullptr ? 0 : scales[i / 32] - top + window;
      integers.push_back(mantissa == 0 ? 0 : mantissa * (int64_t{1} << shift));
    }
  }
  return integers;
}

void check(const quant::QuantizedMatrix& left, const quant::QuantizedMatrix& right) {
  static ThreadPool pools[] = {ThreadPool(1), ThreadPool(2), ThreadPool(3)};
  for (const KernelSet* set : integer::available_kernels()) {
    const auto rows = integer::make_rows(left, *set);
    const auto panels = integer::make_panels(right, *set);
    const auto a = integers_of(left, rows.form.window);
    const auto b = integers_of(right, panels.form.window);
    std::vector<int32_t> sums(static_cast<size_t>(left.rows * right.rows));
    ThreadPool& pool = pools[left.codes[0] % 3];
    integer::multiply_exact(rows, panels, {sums.data(), left.rows, right.rows}, pool);
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto k = static_cast<size_t>(left.cols);
      const size_t row = i / static_cast<size_t>(right.rows) * k;
      const size_t column = i % static_cast<size_t>(right.rows) * k;
      int64_t sum = 0;
      for (size_t at = 0; at < k; ++at) sum += a[row + at] * b[column + at];
      if (sums[i] != sum) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  Bytes bytes(data, size);
  const int64_t m = 1 + bytes.next() % 30;
  const int64_t n = 1 + bytes.next() % 40;
  const int64_t k = 1 + bytes.next() % 150;
  try {
    const auto left = matrix_of(bytes, m, k);
    check(left, matrix_of(bytes, n, k));
  } catch (const Error&) {
  }
  return 0;
}
