// SPDX-License-Identifier: Apache-2.0
#include "driftless/vectors/matrix_text.h"

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/quant/runs.h"
#include "driftless/vectors/hex.h"

namespace driftless::vectors {

std::vector<int64_t> parse_sizes(std::string_view text, size_t count) {
  constexpr int64_t kMost = 65536;
  std::vector<int64_t> sizes;
  for (const std::string_view part : split(text, 'x')) {
    const int64_t size = parse_int(part).value_or(0);
    DRIFTLESS_REQUIRE(size >= 1 && size <= kMost, ErrorCode::BadFile, "got size '", text,
                      "', expected numbers of 1 to ", kMost);
    sizes.push_back(size);
  }
  DRIFTLESS_REQUIRE(sizes.size() == count, ErrorCode::BadFile, "got size '", text, "', expected ",
                    count, " numbers");
  return sizes;
}

std::string codes_text(const quant::QuantizedMatrix& matrix) { return hex_of_bytes(matrix.codes); }

std::string scales_text(const quant::QuantizedMatrix& matrix) {
  const quant::RunScales& scales = matrix.scales;
  const formats::Format& format = *matrix.spec.format;
  std::string text;
  if (format.scaling == formats::Scaling::TwoLevel) text = hex_of_floats({&scales.tensor_scale, 1});
  text += hex_of_bytes(scales.codes);
  for (const quant::Scale& scale : scales.floats) {
    text += hex_of_floats({&scale.scale, 1});
    if (quant::is_asymmetric(format.element)) text += hex_of_floats({&scale.zero, 1});
  }
  return text;
}

quant::QuantizedMatrix parse_matrix(const MatrixFields& fields) {
  quant::QuantizedMatrix matrix{
      .spec = quant::parse_quant_spec(fields.spec), .rows = fields.rows, .cols = fields.cols};
  DRIFTLESS_REQUIRE(!matrix.spec.is_none(), ErrorCode::BadFile, "got quantizer 'none'");
  matrix.codes = bytes_of_hex(fields.codes, fields.rows * fields.cols);
  const int bits = matrix.spec.format->element.bits;
  for (const uint8_t code : matrix.codes)
    DRIFTLESS_REQUIRE(code >> bits == 0, ErrorCode::BadFile, "got code ", int{code},
                      ", expected one of ", bits, " bits");
  const int64_t runs = quant::run_count(matrix.spec, fields.rows, fields.cols);
  if (matrix.spec.granularity == quant::Granularity::Block) {
    matrix.scales.codes = bytes_of_hex(fields.scales, runs);
    return matrix;
  }
  for (const float scale : floats_of_hex(fields.scales, runs))
    matrix.scales.floats.push_back({.scale = scale});
  return matrix;
}

}  // namespace driftless::vectors
