// SPDX-License-Identifier: Apache-2.0
// Quantizing a matrix by a spec: to values (fake quantization) or to codes and scales, and back.
// fake_quantize(x) equals dequantize(quantize(x)) bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "driftless/formats/block.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/mat_view.h"
#include "driftless/quant/scale/scale.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

/// The scales of a matrix, one a run: values that share a scale form a run, which is the whole
/// matrix, a row, or a group of a row, the last of which may be short.
struct RunScales {
  std::vector<Scale> floats{};   ///< element formats; what their codes decode to with scale=
  std::vector<uint8_t> codes{};  ///< block formats: e8m0 or e4m3
  float tensor_scale = 1;        ///< two-level formats
};

/// A matrix as codes, each in the low bits of its byte, row-major.
struct QuantizedMatrix {
  QuantSpec spec;
  int64_t rows = 0;
  int64_t cols = 0;
  RunScales scales{};
  std::vector<uint8_t> codes{};
};

class Quantizer {
 public:
  /// Throws InvalidArgument for a static spec: it needs scales.
  explicit Quantizer(const QuantSpec& spec);
  /// With scales from calibration: one for tensor granularity, one per row for channel. Throws
  /// InvalidArgument for a scale that is not a positive normal number.
  Quantizer(const QuantSpec& spec, std::vector<Scale> static_scales);

  [[nodiscard]] const QuantSpec& spec() const noexcept { return spec_; }

  /// Writes the quantized values of `in` to `out`, which may be the same matrix. Throws Numeric
  /// that names the first NaN or infinity, and then leaves `out` in an unspecified state.
  void fake_quantize(ConstMat in, Mat out) const;

  /// The scale of each run, as for_each_run numbers them. Throws as fake_quantize.
  [[nodiscard]] std::vector<Scale> scales_of(ConstMat in) const;
  [[nodiscard]] const std::vector<Scale>& static_scales() const noexcept { return static_scales_; }

  /// Throws as fake_quantize; Unsupported for `none` and for formats of more than 8 bits.
  [[nodiscard]] QuantizedMatrix quantize(ConstMat in) const;

  /// Runs on other kernels than the best ones of this processor.
  void use_kernels(const KernelSet& set) noexcept { kernels_ = &set; }

 private:
  [[nodiscard]] const formats::Element& element() const noexcept { return spec_.format->element; }
  /// Throws InvalidArgument when the static scales do not suit that many rows.
  void require_scales_for(int64_t rows) const;
  /// The largest magnitude of values of `in`. Throws Numeric.
  [[nodiscard]] float checked_absmax(ConstMat in, std::span<const float> values) const;
  /// The float that a two-level format's block scales multiply; 1 for all others.
  [[nodiscard]] float tensor_scale_for(ConstMat in) const;

  /// The float scale of a run of `in`, and its code where the format is two-level.
  struct RunScale {
    Scale scale;
    uint8_t code = 0;
  };
  [[nodiscard]] RunScale scale_for(ConstMat in, std::span<const float> run, int64_t index,
                                   float tensor_scale) const;

  void fake_rows(ConstMat in, Mat out) const;
  void fake_rows_in_window(ConstMat in, Mat out) const;
  void fake_rows_on_units(ConstMat in, Mat out) const;
  void encode_rows(ConstMat in, QuantizedMatrix& out) const;
  void encode_run(const Scale& scale, std::span<const float> run, uint8_t* codes) const;

  QuantSpec spec_;
  std::vector<Scale> static_scales_;
  formats::BlockScaling block_scaling_{};
  const KernelSet* kernels_;
};

/// The scale of run number `index` as a float.
Scale run_scale(const QuantizedMatrix& matrix, int64_t index);

/// Whether each value of `in` is not clipped, which is where a straight-through gradient passes;
/// `inside` has room for all of them. Throws as fake_quantize.
void find_inside(const Quantizer& quantizer, ConstMat in, bool* inside);

/// Throws InvalidArgument when `out` has another shape.
void dequantize(const QuantizedMatrix& in, Mat out);

}  // namespace driftless::quant
