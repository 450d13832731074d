// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/accumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "driftless/base/error.h"
#include "driftless/formats/float_bits.h"
#include "driftless/integer/product.h"
#include "driftless/quant/runs.h"
#include "driftless/quant/scale/window.h"

namespace driftless::integer {
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

/// Blocks with scale= as the integers that they come to.
QuantizedMatrix as_integers(const QuantizedMatrix& matrix) {
  return matrix.spec.has_scale_codes() ? quant::integer_rows(matrix) : matrix;
}

/// The exponents of a matrix's blocks; where scales have fractions, those of their octaves.
std::vector<int> exponents_of(const QuantizedMatrix& matrix) {
  std::vector<int> exponents(matrix.scales.codes.begin(), matrix.scales.codes.end());
  for (const quant::Scale& scale : matrix.scales.floats)
    exponents.push_back(formats::octave_of(scale.scale).exponent);
  return exponents;
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

template <class Int>
struct Saturated {
  Int low, high;
  explicit Saturated(int64_t bits) : low(-(Int{1} << (bits - 1))), high(-(low + 1)) {}
  Int operator()(Int sum) const { return std::clamp(sum, low, high); }
};

template <class Int>
struct Wrapped {
  using Bits = std::make_unsigned_t<Int>;
  int64_t unused;
  explicit Wrapped(int64_t bits) : unused(std::numeric_limits<Bits>::digits - bits) {}
  Int operator()(Int sum) const {
    return static_cast<Int>(static_cast<Bits>(sum) << unused) >> unused;
  }
};

/// Wide enough for every sum.
template <class Int>
struct Unlimited {
  Int operator()(Int sum) const { return sum; }
};

/// Adds one block's sums, shifted, to running sums.
template <class Int, class Limit>
void add_block(const quant::MatView<int32_t>& parts, std::span<const Int> row_factors,
               std::span<const Int> factors, const Limit& limit, Int* sums) {
  for (int64_t row = 0; row < parts.rows; ++row) {
    const Int row_factor = row_factors[static_cast<size_t>(row)];
    const int32_t* const part = parts.data + row * parts.cols;
    Int* const to = sums + row * parts.cols;
    for (int64_t c = 0; c < parts.cols; ++c)
      to[c] =
          limit(static_cast<Int>(to[c] + part[c] * (row_factor * factors[static_cast<size_t>(c)])));
  }
}

template <class Int>
void add_block(const quant::MatView<int32_t>& parts, std::span<const Int> row_factors,
               std::span<const Int> factors, const Accumulator& accumulator, Int* sums) {
  if (accumulator.bits >= std::numeric_limits<std::make_unsigned_t<Int>>::digits)
    add_block(parts, row_factors, factors, Unlimited<Int>(), sums);
  else if (accumulator.overflow == Overflow::Saturate)
    add_block(parts, row_factors, factors, Saturated<Int>(accumulator.bits), sums);
  else
    add_block(parts, row_factors, factors, Wrapped<Int>(accumulator.bits), sums);
}

template <class Int>
std::vector<Int> narrowed(std::span<const int64_t> values) {
  std::vector<Int> result;
  result.reserve(values.size());
  for (const int64_t value : values) result.push_back(static_cast<Int>(value));
  return result;
}

}  // namespace

int64_t bits_of_magnitude(uint64_t magnitude) noexcept {
  return 1 + static_cast<int64_t>(std::bit_width(magnitude));
}

uint64_t largest_integer(const quant::QuantSpec& spec, int64_t window) noexcept {
  const formats::Element& element = spec.format->element;
  // Below 16 units of a row's largest scale.
  if (spec.has_scale_codes())
    return static_cast<uint64_t>(std::max(-element.min, element.max)) << (4 + spec.window);
  const auto mantissa =
      static_cast<uint64_t>(std::lround(std::max(-element.min, element.max) / element.smallest));
  return mantissa << window;
}

int64_t guaranteed_bits(int64_t k, uint64_t largest_left, uint64_t largest_right) noexcept {
  return bits_of_magnitude(static_cast<uint64_t>(k) * largest_left * largest_right);
}

std::vector<int64_t> exponent_spread(const QuantizedMatrix& matrix) {
  if (!matrix.spec.is_in_blocks()) return {};
  const int64_t blocks = quant::groups_per_row(matrix.spec, matrix.cols);
  const std::vector<int> exponents = exponents_of(matrix);
  std::vector<int64_t> counts;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const auto scales = exponents.begin() + row * blocks;
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

AccumulatedProduct::AccumulatedProduct(const QuantizedMatrix& matrix, const KernelSet& set)
    : set_(&set), form_(), k_(matrix.cols), whole_(make_panels(matrix, set)) {
  const QuantizedMatrix right = as_integers(matrix);
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

void AccumulatedProduct::run(const QuantizedMatrix& matrix, const Accumulator& accumulator,
                             quant::MatView<int64_t> sums, std::span<uint64_t> reach) const {
  if (matrix.spec.has_scale_codes())
    return run(quant::integer_rows(matrix), accumulator, sums, reach);
  const QuantizedMatrix& left = matrix;
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
  const bool is_whole_enough = accumulator.overflow == Overflow::Wrap || accumulator.bits >= 32;
  if (is_whole_enough && reach.empty() && k_ <= largest_k(shifts.form, form_))
    return run_whole(left, accumulator, sums);
  // Half the width is twice the speed. Every sum, and every sum before it is limited, stays below
  // K times the largest integers.
  const int64_t bits = shifts.form.magnitude_bits() + form_.magnitude_bits() +
                       static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(k_)));
  if (bits <= 30)
    run_blocks<int32_t>(left, shifts, accumulator, sums, reach);
  else
    run_blocks<int64_t>(left, shifts, accumulator, sums, reach);
}

/// What wraps on the way does not matter: the end of it is the whole sum, wrapped.
void AccumulatedProduct::run_whole(const QuantizedMatrix& left, const Accumulator& accumulator,
                                   quant::MatView<int64_t> sums) const {
  std::vector<int32_t> whole(static_cast<size_t>(sums.size()));
  multiply_exact(make_rows(left, *set_), whole_, {whole.data(), sums.rows, sums.cols});
  const Wrapped<int64_t> wrap(accumulator.bits);
  std::transform(whole.begin(), whole.end(), sums.data, [&](int64_t sum) { return wrap(sum); });
}

template <class Int>
void AccumulatedProduct::run_blocks(const QuantizedMatrix& left, const RowShifts& shifts,
                                    const Accumulator& accumulator, quant::MatView<int64_t> sums,
                                    std::span<uint64_t> reach) const {
  const auto size = static_cast<size_t>(sums.size());
  std::vector<Int> running(size);
  std::vector<Int> reached(reach.size());
  std::vector<int32_t> parts(size);
  const quant::MatView<int32_t> parts_view{parts.data(), sums.rows, sums.cols};
  for (int64_t b = 0; b < std::ssize(blocks_); ++b) {
    const Block& block = blocks_[static_cast<size_t>(b)];
    multiply_exact(make_rows(block_of(left, b), *set_), block.panels, parts_view);
    const std::vector<Int> rows = narrowed<Int>(factors_of(shifts, b, std::ssize(blocks_)));
    const std::vector<Int> columns = narrowed<Int>(block.factors);
    add_block<Int>(parts_view, rows, columns, accumulator, running.data());
    constexpr int kSign = std::numeric_limits<Int>::digits;
    for (size_t i = 0; i < reached.size(); ++i) reached[i] |= running[i] ^ (running[i] >> kSign);
  }
  std::copy(running.begin(), running.end(), sums.data);
  std::copy(reached.begin(), reached.end(), reach.begin());
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

}  // namespace driftless::integer
