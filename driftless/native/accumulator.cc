// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/accumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/native/product.h"
#include "driftless/quant/runs.h"

namespace driftless::native {
namespace {

using quant::QuantizedMatrix;

/// Columns [block * 32, ...) of a matrix as mantissas without shifts: one block a row has no
/// spread.
QuantizedMatrix block_of(const QuantizedMatrix& matrix, int64_t block) {
  const int64_t first = block * kBlock;
  QuantizedMatrix out{
      .spec = matrix.spec, .rows = matrix.rows, .cols = std::min(kBlock, matrix.cols - first)};
  out.spec.window = quant::kNoWindow;
  out.scales.floats = matrix.scales.floats;
  const int64_t blocks = (matrix.cols + kBlock - 1) / kBlock;
  out.codes.reserve(static_cast<size_t>(out.rows * out.cols));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const auto begin = matrix.codes.begin() + row * matrix.cols + first;
    out.codes.insert(out.codes.end(), begin, begin + out.cols);
    if (matrix.scales.codes.empty()) continue;
    out.scales.codes.push_back(matrix.scales.codes[static_cast<size_t>(row * blocks + block)]);
  }
  return out;
}

/// 2^shift of each row in a block.
std::vector<int64_t> factors_of(const RowShifts& shifts, int64_t block, int64_t blocks) {
  std::vector<int64_t> factors;
  factors.reserve(shifts.scales.size());
  for (auto at = static_cast<size_t>(block); at < shifts.shifts.size();
       at += static_cast<size_t>(blocks)) {
    factors.push_back(int64_t{1} << shifts.shifts[at]);
  }
  return factors;
}

struct Saturated {
  int64_t low, high;
  explicit Saturated(int64_t bits)
      : low(-(int64_t{1} << (bits - 1))), high((int64_t{1} << (bits - 1)) - 1) {}
  int64_t operator()(int64_t sum) const { return std::clamp(sum, low, high); }
};

struct Wrapped {
  int64_t unused;
  explicit Wrapped(int64_t bits) : unused(64 - bits) {}
  int64_t operator()(int64_t sum) const {
    return static_cast<int64_t>(static_cast<uint64_t>(sum) << unused) >> unused;
  }
};

/// Adds one block's sums to a row of running sums.
template <class Limit>
void add_row(std::span<const int32_t> parts, int64_t row_factor, std::span<const int64_t> factors,
             const Limit& limit, std::span<int64_t> sums) {
  for (size_t c = 0; c < sums.size(); ++c) {
    sums[c] = limit(sums[c] + parts[c] * (row_factor * factors[c]));
  }
}

}  // namespace

int64_t bits_of_magnitude(uint64_t magnitude) noexcept {
  return 1 + static_cast<int64_t>(std::bit_width(magnitude));
}

uint64_t largest_integer(const quant::QuantSpec& spec, int64_t window) noexcept {
  const formats::Element& element = spec.format->element;
  const auto mantissa =
      static_cast<uint64_t>(std::lround(std::max(-element.min, element.max) / element.smallest));
  return mantissa << window;
}

int64_t guaranteed_bits(int64_t k, uint64_t largest_left, uint64_t largest_right) noexcept {
  return bits_of_magnitude(static_cast<uint64_t>(k) * largest_left * largest_right);
}

std::vector<int64_t> exponent_spread(const QuantizedMatrix& matrix) {
  if (matrix.spec.granularity != quant::Granularity::Block) return {};
  const int64_t blocks = quant::groups_per_row(matrix.spec, matrix.cols);
  std::vector<int64_t> counts;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const auto scales = matrix.scales.codes.begin() + row * blocks;
    const int64_t top = *std::max_element(scales, scales + blocks);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = block * matrix.spec.group;
      const auto codes = matrix.codes.begin() + row * matrix.cols + first;
      const int64_t length = std::min(matrix.spec.group, matrix.cols - first);
      if (std::all_of(codes, codes + length, [](uint8_t code) { return code == 0; })) continue;
      const auto below = static_cast<size_t>(top - scales[block]);
      if (counts.size() <= below) counts.resize(below + 1);
      ++counts[below];
    }
  }
  return counts;
}

AccumulatedProduct::AccumulatedProduct(const QuantizedMatrix& right, const KernelSet& set)
    : set_(&set), form_(), k_(right.cols) {
  RowShifts shifts = row_shifts(right);
  form_ = shifts.form;
  const int64_t blocks = (k_ + kBlock - 1) / kBlock;
  blocks_.reserve(static_cast<size_t>(blocks));
  for (int64_t block = 0; block < blocks; ++block) {
    blocks_.push_back(
        {make_panels(block_of(right, block), set), factors_of(shifts, block, blocks)});
  }
  const int bits = right.spec.format->element.bits;
  for (int64_t row = 0; row < right.rows; ++row) {
    uint64_t sum = 0;
    for (int64_t at = 0; at < k_; ++at) {
      const int code = right.codes[static_cast<size_t>(row * k_ + at)] & ((1 << bits) - 1);
      const int mantissa = code < 1 << (bits - 1) ? code : (1 << bits) - code;
      sum += static_cast<uint64_t>(mantissa)
             << shifts.shifts[static_cast<size_t>(row * blocks + at / kBlock)];
    }
    largest_column_sum_ = std::max(largest_column_sum_, sum);
  }
  scales_ = std::move(shifts.scales);
}

void AccumulatedProduct::run(const QuantizedMatrix& left, const Accumulator& accumulator,
                             quant::MatView<int64_t> sums, std::span<uint64_t> reach) const {
  DRIFTLESS_REQUIRE(
      accumulator.bits >= Accumulator::kLeastBits && accumulator.bits <= Accumulator::kMostBits,
      ErrorCode::InvalidArgument, "accumulator: bits; got ", accumulator.bits, ", expected ",
      Accumulator::kLeastBits, " to ", Accumulator::kMostBits);
  DRIFTLESS_REQUIRE(left.cols == k_ && sums.rows == left.rows && sums.cols == columns() &&
                        (reach.empty() || std::ssize(reach) == sums.size()),
                    ErrorCode::InvalidArgument, "accumulator: shapes; got ", left.rows, " x ",
                    left.cols, " into ", sums.rows, " x ", sums.cols, ", expected rows of ", k_,
                    " into as many of ", columns());
  const RowShifts shifts = row_shifts(left);
  std::fill_n(sums.data, sums.size(), int64_t{0});
  std::fill(reach.begin(), reach.end(), uint64_t{0});
  std::vector<int32_t> parts(static_cast<size_t>(sums.size()));
  const quant::MatView<int32_t> parts_view{parts.data(), sums.rows, sums.cols};
  for (int64_t b = 0; b < std::ssize(blocks_); ++b) {
    const Block& block = blocks_[static_cast<size_t>(b)];
    multiply_exact(make_rows(block_of(left, b), *set_), block.panels, parts_view);
    const std::vector<int64_t> row_factors = factors_of(shifts, b, std::ssize(blocks_));
    for (int64_t row = 0; row < sums.rows; ++row) {
      const int64_t factor = row_factors[static_cast<size_t>(row)];
      const auto part = parts_view.row(row);
      if (accumulator.overflow == Overflow::Saturate) {
        add_row(part, factor, block.factors, Saturated(accumulator.bits), sums.row(row));
      } else {
        add_row(part, factor, block.factors, Wrapped(accumulator.bits), sums.row(row));
      }
    }
    for (size_t i = 0; i < reach.size(); ++i) {
      reach[i] |= static_cast<uint64_t>(sums.data[i] ^ (sums.data[i] >> 63));
    }
  }
}

void AccumulatedProduct::run(const QuantizedMatrix& left, const Accumulator& accumulator,
                             quant::Mat out) const {
  std::vector<int64_t> sums(static_cast<size_t>(out.size()));
  run(left, accumulator, {sums.data(), out.rows, out.cols});
  const RowShifts shifts = row_shifts(left);
  for (int64_t row = 0; row < out.rows; ++row) {
    const float row_scale = shifts.scales[static_cast<size_t>(row)];
    for (int64_t c = 0; c < out.cols; ++c) {
      out.data[row * out.cols + c] =
          static_cast<float>(sums[static_cast<size_t>(row * out.cols + c)]) *
          (row_scale * scales_[static_cast<size_t>(c)]);
    }
  }
}

}  // namespace driftless::native
