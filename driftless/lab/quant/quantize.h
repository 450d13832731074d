// SPDX-License-Identifier: Apache-2.0
// Simulated quantization of tensors, bit for bit as quant::Quantizer does it, on a CPU or a CUDA
// device.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "driftless/quant/quantizer.h"

namespace driftless::lab {

/// Whether to say which values were clipped, where a straight-through gradient is zero.
enum class ClipMask : uint8_t { None, Inside };

/// Whether values come multiplied by their scales, or as elements in bfloat16 with the scales
/// apart.
enum class ScalesGo : uint8_t { In, Apart };

struct QuantizeOptions {
  ClipMask mask = ClipMask::None;
  /// Of the result: float32, or bfloat16 where the caller knows it to hold every value.
  at::ScalarType type = at::kFloat;
  /// Where to leave a note instead of throwing, so that nobody waits for the device: int32 [1],
  /// zero at first, becomes 1 when a value is not finite. CUDA only; a CPU throws either way.
  at::Tensor not_finite = {};
  ScalesGo scales = ScalesGo::In;
};

struct Quantized {
  at::Tensor values;  ///< lies as the input does on CUDA; contiguous on a CPU
  at::Tensor inside;  ///< bool; undefined without ClipMask::Inside
  at::Tensor scales;  ///< float32, broadcasts to the values; undefined unless ScalesGo::Apart
};

/// Quantizes values [..., rows, K], float32 or bfloat16, along K. Leading axes count matrices: a
/// scale of a whole tensor is that of one matrix. `none` returns the values themselves, cast.
/// Transposed matrices stay where they are on CUDA. Throws Numeric that names the first NaN or
/// infinity of a matrix, and InvalidArgument for other types, static scales that do not fit, or
/// scales that cannot go apart.
Quantized quantize(const quant::Quantizer& quantizer, const at::Tensor& values,
                   const QuantizeOptions& options = {});

/// Whether scales may go apart: they do not vary along K, and bfloat16 holds every element.
bool has_separable_scales(const quant::QuantSpec& spec);

/// Whether a tensor is the transpose of a contiguous [..., K, rows], as the input of a token mixer
/// is.
bool lies_in_columns(const at::Tensor& values);

}  // namespace driftless::lab
