// SPDX-License-Identifier: Apache-2.0
// Quantized matrices that find mistakes in exact products, and the product by definition.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/formats/scale_format.h"
#include "driftless/quant/quantizer.h"
#include "driftless/quant/runs.h"

namespace driftless::integer {

struct Shape {
  int64_t rows;
  int64_t cols;
};

/// What the codes and scales of a sample are like.
enum class Kind : uint8_t {
  Random,
  Largest,
  Lowest,
  Alternating,
  Outlier,
  ZeroBlocks,
  FarExponents
};
inline constexpr std::array kKinds = {Kind::Random,      Kind::Largest, Kind::Lowest,
                                      Kind::Alternating, Kind::Outlier, Kind::ZeroBlocks,
                                      Kind::FarExponents};

inline int64_t sample_mantissa(Kind kind, int bits, int64_t at, Rng& rng) {
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  switch (kind) {
    case Kind::Largest:
      return most;
    case Kind::Lowest:  // The code that decodes but is never produced.
      return -most - 1;
    case Kind::Alternating:
      return at % 2 == 0 ? most : -most;
    case Kind::Outlier:
      return at == 0 ? most : 0;
    case Kind::ZeroBlocks:
      if (at / 32 % 2 == 0) return 0;
      break;
    default:
      break;
  }
  return static_cast<int64_t>(rng.below(static_cast<uint64_t>(2 * most + 2))) - most - 1;
}

/// Codes of `spec`; block exponents lie 0 to the spec's window below a top that moves from row to
/// row, at the ends of e8m0 for FarExponents.
inline quant::QuantizedMatrix sample_matrix(const std::string& text, Shape shape, Kind kind,
                                            uint64_t seed) {
  Rng rng(seed);
  quant::QuantizedMatrix matrix{
      .spec = quant::parse_quant_spec(text), .rows = shape.rows, .cols = shape.cols};
  const int bits = matrix.spec.format->element.bits;
  for (int64_t row = 0; row < shape.rows; ++row) {
    for (int64_t at = 0; at < shape.cols; ++at) {
      const int64_t mantissa = sample_mantissa(kind, bits, at, rng);
      matrix.codes.push_back(static_cast<uint8_t>(mantissa & ((1 << bits) - 1)));
    }
  }
  const int64_t runs = quant::run_count(matrix.spec, shape.rows, shape.cols);
  if (matrix.spec.granularity != quant::Granularity::Block) {
    for (int64_t run = 0; run < runs; ++run) {
      auto scale = static_cast<float>(0.01 + rng.uniform());
      if (matrix.spec.has_scale_codes()) {
        if (formats::is_signed(matrix.spec.scale) && rng.below(2) == 0) scale = -scale;
        const uint16_t code = formats::encode_scale(matrix.spec.scale, scale);
        scale = formats::decode_scale(matrix.spec.scale, code);
      }
      matrix.scales.floats.push_back({.scale = scale});
    }
    return matrix;
  }
  const int64_t blocks = runs / shape.rows;
  const auto window = static_cast<uint64_t>(std::max(matrix.spec.window, int64_t{0}));
  for (int64_t row = 0; row < shape.rows; ++row) {
    const uint64_t top =
        kind == Kind::FarExponents ? (row % 2 == 0 ? window : 250) : 110 + rng.below(20);
    const auto highest = static_cast<int64_t>(rng.below(static_cast<uint64_t>(blocks)));
    for (int64_t block = 0; block < blocks; ++block) {
      const uint64_t below = block == highest ? 0 : rng.below(window + 1);
      matrix.scales.codes.push_back(static_cast<uint8_t>(top - below));
    }
  }
  return matrix;
}

/// The rows of a matrix as the integers value / scale, which must be whole.
inline std::vector<int64_t> integers_of(const quant::QuantizedMatrix& matrix, const float* scales) {
  std::vector<float> values(matrix.codes.size());
  quant::dequantize(matrix, {values.data(), matrix.rows, matrix.cols});
  std::vector<int64_t> integers(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double scale = static_cast<double>(scales[i / static_cast<size_t>(matrix.cols)]);
    integers[i] = std::llrint(static_cast<double>(values[i]) / scale);
  }
  return integers;
}

/// [rows of a][rows of b] sums over k, in 64 bits.
inline std::vector<int64_t> exact_product(const std::vector<int64_t>& a,
                                          const std::vector<int64_t>& b, int64_t k) {
  std::vector<int64_t> out;
  for (auto row = a.begin(); row != a.end(); row += k) {
    for (auto column = b.begin(); column != b.end(); column += k) {
      int64_t sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += row[i] * column[i];
      out.push_back(sum);
    }
  }
  return out;
}

}  // namespace driftless::integer
