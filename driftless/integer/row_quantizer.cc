// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/row_quantizer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "driftless/base/error.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/float_bits.h"
#include "driftless/integer/scaled_blocks.h"
#include "driftless/quant/scale/window.h"

namespace driftless::integer {
namespace {

using quant::Granularity;

/// The same byte eight times.
constexpr uint64_t eightfold(unsigned byte) { return uint64_t{0x0101010101010101} * (byte & 0xff); }

int mantissa_of(uint8_t code, int64_t bits) {
  const int whole = code & ((1 << bits) - 1);
  return whole < 1 << (bits - 1) ? whole : whole - (1 << bits);
}

/// m / 2^shift, to nearest, ties to even.
int shifted_right(int m, int shift) {
  const auto magnitude = static_cast<uint32_t>(m < 0 ? -m : m);
  const auto rounded = static_cast<int>(formats::shift_right_to_even(magnitude, shift));
  return m < 0 ? -rounded : rounded;
}

/// Turns n codes, a multiple of eight, into bytes: mantissas, flipped, and shifted left by `shift`
/// where that fits bytes. With c' = c XOR 2^(bits-1), mantissa + 2^(bits-1) of a code, the byte is
/// c' * 2^shift + 128 - 2^(bits-1+shift): never below 0 nor above 255, so that eight bytes of a
/// word do not disturb each other.
void shift_codes(uint8_t* codes, int64_t n, int64_t bits, int shift, uint8_t flip) {
  const auto sign = 1u << (bits - 1);
  const uint64_t offset = eightfold(128u - (sign << shift));
  const uint64_t flips = eightfold(0x80u ^ flip);
  for (int64_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, codes + i, sizeof(word));
    word = (((word ^ eightfold(sign)) << shift) + offset) ^ flips;
    std::memcpy(codes + i, &word, sizeof(word));
  }
}

/// The codes of a block that lies `below` the window: mantissas rounded to the window's exponent.
void round_codes(uint8_t* codes, int64_t bits, int below) {
  const int mask = (1 << bits) - 1;
  for (int64_t i = 0; i < kBlock; ++i)
    codes[i] = static_cast<uint8_t>(shifted_right(mantissa_of(codes[i], bits), below) & mask);
}

/// Encoders::scale_rows by quant's kernels, for sets without encoders.
bool scale_by_quant(const formats::Element& element, const RowsToScale& args) noexcept {
  const quant::KernelSet& kernels = quant::kernels();
  // Blocks that follow each other are one run.
  const int64_t run = args.block_stride == kBlock ? args.k : kBlock;
  for (int64_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.x_stride;
    const auto for_each_run = [&](auto visit) {
      for (int64_t at = 0; at < args.k; at += run)
        visit(x + at / kBlock * args.block_stride, std::min(run, args.k - at), at);
    };
    uint32_t largest = 0;
    for_each_run([&](const float* values, int64_t n, int64_t) {
      largest = std::max(largest, kernels.absmax_bits(values, n));
    });
    if (largest >= formats::kFloatInfinityBits) return false;
    const float scale = quant::symmetric_scale(element, std::bit_cast<float>(largest)).scale;
    for_each_run([&](const float* values, int64_t n, int64_t at) {
      kernels.encode_integers(element, values, n, {scale, args.flip},
                              args.bytes + row * args.byte_stride + at);
    });
    args.scales[row] = scale;
  }
  return true;
}

}  // namespace

RowQuantizer::RowQuantizer(const quant::QuantSpec& spec, const KernelSet& set)
    : spec_(spec), set_(&set), block_scaling_() {
  require_supported(spec);
  const bool is_block = spec.is_in_blocks();
  DRIFTLESS_REQUIRE(!is_block || (spec.window >= 0 && spec.window <= kMaxWindow),
                    ErrorCode::Unsupported, "native product: activations as '", to_string(spec),
                    "'; expected a window of 0 to ", kMaxWindow, ", such as window=4");
  const bool is_plain_token =
      spec.granularity == Granularity::Token && spec.calibration == quant::Calibration{};
  DRIFTLESS_REQUIRE(is_block || is_plain_token, ErrorCode::Unsupported,
                    "native product: activations as '", to_string(spec),
                    "'; expected mx blocks or a dynamic scale per token");
  form_ = {spec.format->element.bits, is_block ? spec.window : 0};
  block_scaling_ = formats::block_scaling(spec.format->element, spec.rule);
  has_encoders_ = is_block && set.encoders != nullptr && set.encoders->knows(block_scaling_);
  if (!spec.has_scale_codes()) return;
  require_code_scales(spec);
  form_ = {.window = quant::integer_window(spec)};
  has_encoders_ = knows_scaled_blocks(spec, set);
}

RowMatrix RowQuantizer::make(int64_t rows, int64_t k) const {
  DRIFTLESS_REQUIRE(rows > 0 && k > 0, ErrorCode::InvalidArgument,
                    "native product: shape of activations; got ", rows, " x ", k,
                    ", expected at least 1 x 1");
  const int64_t blocks = (k + kBlock - 1) / kBlock;
  RowMatrix out{set_, form_, rows, k, row_stride(k, *set_), blocks};
  out.bytes.assign(static_cast<size_t>(rows * out.stride), set_->row_flip);
  out.shifts.assign(static_cast<size_t>(rows * blocks), 0);
  out.scales.assign(static_cast<size_t>(rows), 0.0f);
  return out;
}

void RowQuantizer::quantize(std::span<const float> values, RowMatrix& out, int64_t row) const {
  DRIFTLESS_REQUIRE(std::ssize(values) == out.k && row >= 0 && row < out.rows,
                    ErrorCode::InvalidArgument, "native product: ", values.size(),
                    " activations for row ", row, ", expected ", out.k, " for one of ", out.rows);
  if (spec_.is_in_blocks()) return quantize_blocks(values, out, row);
  quantize_scaled({values.data(), out.k, kBlock, 1}, out, row);
}

void RowQuantizer::quantize_blocks(std::span<const float> values, RowMatrix& out,
                                   int64_t row) const {
  uint8_t* const bytes = out.bytes.data() + row * out.stride;
  uint8_t* const shifts = out.shifts.data() + row * out.blocks;
  // Codes and scale codes first stand where bytes and shifts will. Codes of zero pad the last
  // block.
  std::fill(bytes + out.k, bytes + out.blocks * kBlock, uint8_t{0});
  const int64_t stopped = encode_row(values.data(), out.k, bytes, shifts);
  DRIFTLESS_REQUIRE(stopped == quant::kAllFinite, ErrorCode::Numeric,
                    "native product: activations of row ", row, ", block ", stopped,
                    "; got a NaN or an infinity, expected finite numbers");
  finish_row(out, row);
}

int64_t RowQuantizer::encode_row(const float* values, int64_t k, uint8_t* codes,
                                 uint8_t* scales) const noexcept {
  if (spec_.has_scale_codes()) return encode_scaled_blocks(spec_, values, k, codes, scales);
  return quant::kernels().encode_blocks(block_scaling_, values, {k, kBlock}, codes, scales);
}

bool RowQuantizer::encode_by_set(const RowsToEncode& rows) const noexcept {
  if (spec_.has_scale_codes())
    return set_->encoders->encode_scaled_rows({spec_.format->element, spec_.scale_rule()}, rows);
  return set_->encoders->encode_rows(block_scaling_, rows);
}

void RowQuantizer::quantize_rows(quant::ConstMat values, RowMatrix& out) const {
  const bool has_shape = values.cols == out.k && values.rows <= out.rows;
  if (has_shape && !spec_.is_in_blocks())
    return quantize_scaled({values.data, values.cols, kBlock, values.rows}, out, 0);
  const bool suits_encoders = has_encoders_ && out.k % kBlock == 0 && has_shape;
  if (!suits_encoders) {
    for (int64_t row = 0; row < values.rows; ++row) quantize(values.row(row), out, row);
    return;
  }
  const bool is_finite =
      encode_by_set({values.data, values.cols, values.rows, out.blocks, out.bytes.data(),
                     out.stride, out.shifts.data(), out.blocks});
  DRIFTLESS_REQUIRE(is_finite, ErrorCode::Numeric, "native product: activations",
                    "; got a NaN or an infinity, expected finite numbers");
  for (int64_t row = 0; row < values.rows; ++row) finish_row(out, row);
}

bool RowQuantizer::encode_tile(const float* values, RowMatrix& out, int64_t first_row, int64_t rows,
                               int64_t block) const noexcept {
  uint8_t* const codes = out.bytes.data() + first_row * out.stride + block * kBlock;
  uint8_t* const scales = out.shifts.data() + first_row * out.blocks + block;
  if (has_encoders_)
    return encode_by_set({values, kBlock, rows, 1, codes, out.stride, scales, out.blocks});
  // Rows follow one another in `values`, so that a call encodes many, apart from where they go.
  constexpr int64_t kRows = 32;
  uint8_t row_codes[kRows * kBlock];
  uint8_t row_scales[kRows];
  bool is_finite = true;
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = std::min(kRows, rows - first);
    is_finite &= encode_row(values + first * kBlock, count * kBlock, row_codes, row_scales) ==
                 quant::kAllFinite;
    for (int64_t row = 0; row < count; ++row) {
      std::memcpy(codes + (first + row) * out.stride, row_codes + row * kBlock, kBlock);
      scales[(first + row) * out.blocks] = row_scales[row];
    }
  }
  return is_finite;
}

void RowQuantizer::finish_row(RowMatrix& out, int64_t row) const noexcept {
  uint8_t* const bytes = out.bytes.data() + row * out.stride;
  uint8_t* const shifts = out.shifts.data() + row * out.blocks;
  if (spec_.has_scale_codes()) {
    out.scales[static_cast<size_t>(row)] = finish_scaled_row(
        {spec_, *set_, has_encoders_ ? set_->encoders : nullptr}, {bytes, out.blocks, shifts});
    return;
  }
  const int top = *std::max_element(shifts, shifts + out.blocks);
  const int base = top - static_cast<int>(form_.window);
  const bool is_shifted = are_shifted(form_, *set_);
  for (int64_t block = 0; block < out.blocks; ++block) {
    const int shift = shifts[block] - base;
    if (shift < 0) round_codes(bytes + block * kBlock, form_.bits, -shift);
    shifts[block] = static_cast<uint8_t>(std::max(shift, 0));
  }
  // Codes become bytes: shifted where that fits, and flipped.
  const int64_t bits = form_.bits;
  if (is_shifted && set_->encoders != nullptr) {
    set_->encoders->shift_codes(
        {bytes, out.blocks, shifts, static_cast<int>(bits), set_->row_flip});
  } else if (is_shifted) {
    for (int64_t block = 0; block < out.blocks; ++block)
      shift_codes(bytes + block * kBlock, kBlock, bits, shifts[block], set_->row_flip);
  } else {
    shift_codes(bytes, out.blocks * kBlock, bits, 0, set_->row_flip);
  }
  if (is_shifted) std::fill_n(shifts, out.blocks, uint8_t{0});
  const int fraction_bits = -formats::octave_of(spec_.format->element.smallest).exponent;
  out.scales[static_cast<size_t>(row)] =
      formats::power_of_two(base - formats::E8m0fnu::kBias - fraction_bits);
}

void RowQuantizer::quantize_tiles(const float* tiles, int64_t rows, RowMatrix& out) const {
  quantize_scaled({tiles, kBlock, rows * kBlock, rows}, out, 0);
}

void RowQuantizer::quantize_scaled(const Values& values, RowMatrix& out, int64_t first) const {
  const RowsToScale args{.x = values.x,
                         .x_stride = values.row_stride,
                         .block_stride = values.block_stride,
                         .rows = values.rows,
                         .k = out.k,
                         .bytes = out.bytes.data() + first * out.stride,
                         .byte_stride = out.stride,
                         .scales = out.scales.data() + first,
                         .flip = set_->row_flip};
  const auto scale_rows = set_->encoders != nullptr ? set_->encoders->scale_rows : scale_by_quant;
  DRIFTLESS_REQUIRE(scale_rows(spec_.format->element, args), ErrorCode::Numeric,
                    "native product: activations of rows ", first, " to ", first + values.rows - 1,
                    "; got a NaN or an infinity, expected finite numbers");
}

}  // namespace driftless::integer
