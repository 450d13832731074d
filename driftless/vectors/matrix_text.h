// SPDX-License-Identifier: Apache-2.0
// Quantized matrices as two fields of a case, codes and scales; and sizes such as 2x3x40.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/quant/quantizer.h"

namespace driftless::vectors {

/// One number a part. Throws BadFile unless there are `count` parts of 1 to 65,536.
std::vector<int64_t> parse_sizes(std::string_view text, size_t count);

/// Two digits a code.
std::string codes_text(const quant::QuantizedMatrix& matrix);
/// One scale a run: two digits where it is a code; the float where it is one, with the zero point
/// behind it in asymmetric formats; the tensor's float before the codes in two-level formats.
std::string scales_text(const quant::QuantizedMatrix& matrix);

/// The matrix of the two fields. Throws BadFile where they do not suit its shape, and
/// InvalidArgument for a text that is no quantizer.
struct MatrixFields {
  std::string_view spec;
  int64_t rows;
  int64_t cols;
  std::string_view codes;
  std::string_view scales;
};
quant::QuantizedMatrix parse_matrix(const MatrixFields& fields);

}  // namespace driftless::vectors
