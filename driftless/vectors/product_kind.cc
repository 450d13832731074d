// SPDX-License-Identifier: Apache-2.0
// Cases of exact products: whole sums, sums per block, digits of two planes, float scales.
#include <algorithm>
#include <bit>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/integer/product.h"
#include "driftless/quant/runs.h"
#include "driftless/vectors/hex.h"
#include "driftless/vectors/kinds.h"
#include "driftless/vectors/matrix_text.h"

namespace driftless::vectors {
namespace {

struct Pair {
  const char* left;
  const char* right;
};
constexpr Pair kPairs[] = {
    {"mxint4,window=4", "mxint4,window=4"},   {"mxint4,window=7", "mxint4,window=7"},
    {"mxint4,window=4", "mxint4,window=6"},   {"mxint8,window=3", "mxint8,window=3"},
    {"mxint8,window=0", "mxint4,window=4"},   {"mxint3,window=5", "mxint8,window=4"},
    {"mxint2,window=6", "mxint6,window=1"},   {"int8/token", "int8/channel"},
    {"int8_full/token", "int8_full/channel"}, {"int4/tensor", "mxint6,window=1"},
};

/// Any codes; mostly large ones in every fourth matrix.
std::vector<uint8_t> sample_codes(int bits, int64_t count, Rng& rng) {
  const bool is_extreme = rng.below(4) == 0;
  std::vector<uint8_t> codes;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t any = rng.below(uint64_t{1} << bits);
    const uint64_t lowest = uint64_t{1} << (bits - 1);
    codes.push_back(static_cast<uint8_t>(is_extreme && any % 8 != 0 ? lowest - any % 2 : any));
  }
  return codes;
}

/// Exponents of a row lie within the window.
std::vector<uint8_t> sample_exponents(const quant::QuantSpec& spec, int64_t rows, int64_t blocks,
                                      Rng& rng) {
  std::vector<uint8_t> codes;
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t top = 110 + rng.below(20);
    const auto highest = static_cast<int64_t>(rng.below(static_cast<uint64_t>(blocks)));
    for (int64_t block = 0; block < blocks; ++block) {
      const uint64_t below = rng.below(static_cast<uint64_t>(spec.window) + 1);
      codes.push_back(static_cast<uint8_t>(block == highest ? top : top - below));
    }
  }
  return codes;
}

quant::QuantizedMatrix sample_matrix(const char* text, int64_t rows, int64_t cols, Rng& rng) {
  quant::QuantizedMatrix matrix{.spec = quant::parse_quant_spec(text), .rows = rows, .cols = cols};
  matrix.codes = sample_codes(matrix.spec.format->element.bits, rows * cols, rng);
  const int64_t runs = quant::run_count(matrix.spec, rows, cols);
  if (matrix.spec.granularity == quant::Granularity::Block) {
    matrix.scales.codes = sample_exponents(matrix.spec, rows, runs / rows, rng);
    return matrix;
  }
  for (int64_t run = 0; run < runs; ++run) {
    const auto bits = static_cast<uint32_t>(0x3c000000u + rng.below(0x04000000u));  // 2^-7 to 2
    matrix.scales.floats.push_back({.scale = std::bit_cast<float>(bits)});
  }
  return matrix;
}

void make_product(const Amount& amount, const Engine&, Rng& rng, const FieldSink& sink) {
  for (const Pair& pair : kPairs)
    for (int64_t i = 0; i < amount.cases; ++i) {
      const auto m = static_cast<int64_t>(1 + rng.below(4));
      const auto n = static_cast<int64_t>(1 + rng.below(5));
      const auto k = static_cast<int64_t>(1 + rng.below(100));
      const quant::QuantizedMatrix left = sample_matrix(pair.left, m, k, rng);
      const quant::QuantizedMatrix right = sample_matrix(pair.right, n, k, rng);
      sink(std::string(pair.left) + " " + pair.right + " " + std::to_string(m) + "x" +
           std::to_string(n) + "x" + std::to_string(k) + " " + codes_text(left) + " " +
           scales_text(left) + " " + codes_text(right) + " " + scales_text(right));
    }
}

std::string answer_product(Fields fields, const Engine& engine) {
  const std::vector<int64_t> sizes = parse_sizes(fields[2], 3);
  const int64_t m = sizes[0], n = sizes[1], k = sizes[2];
  const auto left = parse_matrix(
      {.spec = fields[0], .rows = m, .cols = k, .codes = fields[3], .scales = fields[4]});
  const auto right = parse_matrix(
      {.spec = fields[1], .rows = n, .cols = k, .codes = fields[5], .scales = fields[6]});
  const integer::RowMatrix rows = integer::make_rows(left, *engine.products);
  const integer::PanelMatrix panels = integer::make_panels(right, *engine.products);
  std::vector<int32_t> sums(static_cast<size_t>(m * n));
  std::vector<float> values(sums.size());
  integer::multiply_exact(rows, panels, {sums.data(), m, n});
  integer::multiply(rows, panels, {values.data(), m, n});
  return hex_of_sums(sums) + " " + hex_of_floats(values);
}

}  // namespace

const Kind kProduct = {"product", 7, make_product, answer_product};

}  // namespace driftless::vectors
