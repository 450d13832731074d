// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/packed.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/quant/runs.h"

namespace driftless::quant {
namespace {

/// How a row is stored: `count` stretches of `codes` codes in `bytes` bytes each.
struct RowLayout {
  int64_t count;
  int64_t codes;
  int64_t bytes;
};

RowLayout row_layout(const QuantSpec& spec, int64_t cols) {
  const bool is_block = spec.granularity == Granularity::Block;
  const int64_t codes = is_block ? spec.group : cols;
  const int64_t count = is_block ? groups_per_row(spec, cols) : 1;
  return {count, codes, (codes * spec.format->element.bits + 7) / 8};
}

/// Calls visit(codes, bytes) with the offsets of each stretch and its number of true codes.
template <class Visit>
void for_each_stretch(const QuantSpec& spec, int64_t rows, int64_t cols, Visit visit) {
  const RowLayout layout = row_layout(spec, cols);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < layout.count; ++i) {
      const int64_t length = std::min(layout.codes, cols - i * layout.codes);
      visit(row * cols + i * layout.codes, (row * layout.count + i) * layout.bytes, length);
    }
  }
}

void require_consistent(const PackedMatrix& packed) {
  const int64_t bytes = packed.rows * packed_row_bytes(packed.spec, packed.cols);
  DRIFTLESS_REQUIRE(static_cast<int64_t>(packed.bytes.size()) == bytes, ErrorCode::BadFile,
                    "packed matrix: bytes of codes; got ", packed.bytes.size(), ", expected ",
                    bytes);
  const bool is_block = packed.spec.granularity == Granularity::Block;
  const size_t scales = is_block ? packed.scales.codes.size() : packed.scales.floats.size();
  const int64_t expected = run_count(packed.spec, packed.rows, packed.cols);
  DRIFTLESS_REQUIRE(static_cast<int64_t>(scales) == expected, ErrorCode::BadFile,
                    "packed matrix: scales; got ", scales, ", expected ", expected);
}

}  // namespace

int64_t packed_row_bytes(const QuantSpec& spec, int64_t cols) {
  const RowLayout layout = row_layout(spec, cols);
  return layout.count * layout.bytes;
}

void pack_bits(std::span<const uint8_t> codes, int bits, std::span<uint8_t> bytes) {
  if (bits == 4)
    return kernels().pack4(codes.data(), static_cast<int64_t>(codes.size()), bytes.data());
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  size_t bit = 0;
  for (const uint8_t code : codes) {
    const auto window = static_cast<uint32_t>(code) << (bit % 8);
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] | window);
    if (window > 0xff) bytes[bit / 8 + 1] = static_cast<uint8_t>(window >> 8);
    bit += static_cast<size_t>(bits);
  }
}

void unpack_bits(std::span<const uint8_t> bytes, int bits, std::span<uint8_t> codes) {
  if (bits == 4)
    return kernels().unpack4(bytes.data(), static_cast<int64_t>(codes.size()), codes.data());
  size_t bit = 0;
  for (uint8_t& code : codes) {
    const size_t at = bit / 8;
    const uint32_t next = at + 1 < bytes.size() ? bytes[at + 1] : 0u;
    const uint32_t window = (bytes[at] | next << 8) >> (bit % 8);
    code = static_cast<uint8_t>(window & ((1u << bits) - 1));
    bit += static_cast<size_t>(bits);
  }
}

PackedMatrix pack(const QuantizedMatrix& matrix) {
  PackedMatrix packed{matrix.spec, matrix.rows, matrix.cols, matrix.scales};
  packed.bytes.resize(
      static_cast<size_t>(matrix.rows * packed_row_bytes(matrix.spec, matrix.cols)));
  const int bits = matrix.spec.format->element.bits;
  for_each_stretch(
      matrix.spec, matrix.rows, matrix.cols, [&](int64_t codes, int64_t bytes, int64_t length) {
        const auto count = static_cast<size_t>(length);
        pack_bits({matrix.codes.data() + codes, count}, bits,
                  {packed.bytes.data() + bytes, (count * static_cast<size_t>(bits) + 7) / 8});
      });
  return packed;
}

QuantizedMatrix unpack(const PackedMatrix& packed) {
  require_consistent(packed);
  QuantizedMatrix matrix{packed.spec, packed.rows, packed.cols, packed.scales};
  matrix.codes.resize(static_cast<size_t>(packed.rows * packed.cols));
  const int bits = packed.spec.format->element.bits;
  const RowLayout layout = row_layout(packed.spec, packed.cols);
  std::vector<uint8_t> stretch(static_cast<size_t>(layout.codes));
  for_each_stretch(
      packed.spec, packed.rows, packed.cols, [&](int64_t codes, int64_t bytes, int64_t length) {
        unpack_bits({packed.bytes.data() + bytes, static_cast<size_t>(layout.bytes)}, bits,
                    stretch);
        const bool padded = std::all_of(stretch.begin() + length, stretch.end(),
                                        [](uint8_t code) { return code == 0; });
        DRIFTLESS_REQUIRE(padded, ErrorCode::BadFile, "packed matrix: padding after code ",
                          codes + length - 1, " is not zero");
        std::copy_n(stretch.begin(), length, matrix.codes.begin() + codes);
      });
  return matrix;
}

}  // namespace driftless::quant
