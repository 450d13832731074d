// SPDX-License-Identifier: Apache-2.0
// The native engine's arithmetic on the device, bit for bit: what integer/ and loop/ compute on a
// CPU. All run asynchronously on `stream`; a launch that fails throws Error (Internal).
#pragma once

#include <cstdint>

#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/quant/quantize.h"
#include "driftless/quant/spec.h"

namespace driftless::lab::cuda {

/// A factor of a product: rows of `stride` bytes, of which what follows a row's integers is zero,
/// and what one is worth in each row.
struct Integers {
  int8_t* bytes;
  float* units;
  int64_t rows;
  int64_t stride;  ///< a multiple of kIntegerStep
};
inline constexpr int64_t kIntegerStep = 32;

/// Why activations in this format cannot be encoded: "" where they can, else what to expect.
const char* why_not_encoded(const quant::QuantSpec& spec) noexcept;

/// Rows of activations as integers: those of integer::RowQuantizer. *not_finite becomes 1 where a
/// value is NaN or infinite. Throws Unsupported where why_not_encoded() says why.
void encode(const quant::QuantSpec& spec, MatricesShape shape, const float* values,
            const Integers& out, int32_t* not_finite, Stream stream);

/// silu(gate) * up, [left.rows, right.rows / 2]; the right factor's rows are pairs of a gate and an
/// up.
void multiply_swiglu(const Integers& left, const Integers& right, float* act, Stream stream);

/// [left.rows, right.rows].
void multiply(const Integers& left, const Integers& right, float* out, Stream stream);

/// The same with each `matrix_rows` rows of the result transposed: [matrices, right.rows,
/// matrix_rows].
void multiply_transposed(const Integers& left, const Integers& right, int64_t matrix_rows,
                         float* out, Stream stream);

/// Each of `matrices` equal parts of the left factor's rows by the same part of the right one's:
/// [matrices, rows of a left part, rows of a right part].
void multiply_parts(const Integers& left, const Integers& right, int64_t matrices, float* out,
                    Stream stream);

/// The same of shares, whose bytes count from -128, with the parts' results side by side: for parts
/// [boards, heads], [boards, rows of a left part, heads, rows of a right part].
void multiply_shares(const Integers& shares, const Integers& right, const int32_t* right_sums,
                     int64_t boards, int64_t heads, float* out, Stream stream);
/// The sum of each row's integers.
void sum_rows(const Integers& rows, int32_t* sums, Stream stream);

/// Rows of scores as shares of their softmax: bytes of 0 to 255 less 128, worth 1 over their sum.
void share(const float* scores, int64_t length, float scale, const Integers& out, Stream stream);

/// Turns rows of heads in place by their positions' angles, as loop::Rope does.
void turn(RopeShape shape, const float* cos, const float* sin, float* values, Stream stream);

/// out = rms_norm(h + y) along one axis of [batch, positions, width].
void add_norm(NormAxis axis, StateShape shape, const float* h, const float* y, float eps,
              float* out, Stream stream);

/// Rows times a weight that stays in float.
struct HeadShape {
  int64_t rows;
  int64_t inputs;
  int64_t outputs;
};
/// weight [inputs, outputs]; sums run over the inputs in order, fused.
void multiply_in_order(HeadShape shape, const float* in, const float* weight, float* out,
                       Stream stream);
/// weight [outputs, inputs]; sums begin with the bias and run in double.
void multiply_in_double(HeadShape shape, const float* in, const float* weight, const float* bias,
                        float* out, Stream stream);

}  // namespace driftless::lab::cuda
