// SPDX-License-Identifier: Apache-2.0
// The kernels of simulated quantization over device pointers: driftless/formats and
// driftless/quant's scalar truth, compiled for CUDA, so that results equal the CPU's bit for bit.
// All run asynchronously on `stream`; a launch that fails throws Error (Internal).
#pragma once

#include <cstdint>

#include "driftless/lab/cuda/kernels.h"
#include "driftless/quant/scale/scale.h"
#include "driftless/quant/spec.h"

namespace driftless::lab::cuda {

/// Rows: [matrices, rows, length]. Columns: [matrices, length, rows], as a token mixer's input lies
/// in a state. Both dense; scales run along `length`.
enum class Lie { Rows, Columns };
struct MatricesShape {
  int64_t matrices;
  int64_t rows;
  int64_t length;
  Lie lie;
};

/// Quantized values, or these over their scale: the format's elements, which are exact in bfloat16
/// and come in that type alone.
enum class Result { Values, Elements };

/// Values in, quantized values out. `inside` is null, or becomes false where a value was clipped.
/// *not_finite becomes 1 where an input is NaN or infinite; outputs are then unspecified.
struct QuantizeBuffers {
  Real in_type;
  const void* in;
  Real out_type;
  void* out;
  bool* inside;
  int32_t* not_finite;
  Result result = Result::Values;  ///< Elements: apply_scales only
};

/// Which scale belongs to a value: index = matrix * matrix_step + row * row_step + column / group.
struct ScaleIndex {
  int64_t matrix_step;
  int64_t row_step;
  int64_t group;
};

/// Power-of-two block formats without a window, in one pass.
void quantize_blocks(const quant::QuantSpec& spec, MatricesShape shape,
                     const QuantizeBuffers& buffers, Stream stream);

/// scales[run] = the power-of-two scale of each block, runs by [matrix, row, block].
void block_scales(const quant::QuantSpec& spec, MatricesShape shape, Real type, const void* values,
                  quant::Scale* scales, Stream stream);

/// extents[run] of groups of `group` along the rows; both ends the largest magnitude where the
/// element is symmetric.
void extents(const quant::QuantSpec& spec, MatricesShape shape, int64_t group, Real type,
             const void* values, quant::Extent* out, Stream stream);

/// Limits extents to a percentile, or to the share of least squared error, as spec.calibration
/// says. Runs are groups of `group` along the rows, or whole matrices where group is 0.
void calibrate_extents(const quant::QuantSpec& spec, MatricesShape shape, int64_t group, Real type,
                       const void* values, quant::Extent* in_out, Stream stream);

/// scales[i] = quant::scale_of(extents[i]).
void scales_of_extents(const quant::QuantSpec& spec, const quant::Extent* extents, int64_t count,
                       quant::Scale* scales, Stream stream);

/// The scales of a two-level format from the extents of its blocks and of its matrices.
void two_level_scales(const quant::QuantSpec& spec, const quant::Extent* blocks, int64_t count,
                      const quant::Extent* matrices, int64_t blocks_per_matrix,
                      quant::Scale* scales, Stream stream);

/// The scales of blocks with scale=, runs by [matrix, row, block].
void stored_scales(const quant::QuantSpec& spec, MatricesShape shape, Real type, const void* values,
                   quant::Scale* scales, Stream stream);

/// Quantizes with given scales. A window needs one scale a block. Under it values of mx formats
/// whose scale lies too far below the row's largest are quantized again, and values with scale= are
/// rounded to the row's unit.
void apply_scales(const quant::QuantSpec& spec, MatricesShape shape, const quant::Scale* scales,
                  ScaleIndex index, const QuantizeBuffers& buffers, Stream stream);

}  // namespace driftless::lab::cuda
