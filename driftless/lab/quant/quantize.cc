// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/quantize.h"

#include <algorithm>
#include <vector>

#include <ATen/Parallel.h>

#include "driftless/base/error.h"
#include "driftless/lab/cuda/quant/quantize.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/device/ops.h"
#include "driftless/quant/runs.h"

namespace driftless::lab {
namespace {

using cuda::Lie;
using cuda::MatricesShape;
using formats::Scaling;
using quant::Granularity;
using quant::Quantizer;
using quant::QuantSpec;
using quant::Scale;
using quant::Source;

MatricesShape shape_of(const at::Tensor& values) {
  const int64_t axes = values.dim();
  const int64_t length = values.size(-1);
  const int64_t rows = axes >= 2 ? values.size(-2) : 1;
  return {values.numel() / std::max<int64_t>(rows * length, 1), rows, length, Lie::Rows};
}

/// `count` scales, one a matrix or one a row, or one for all, as they broadcast to `values`.
std::vector<int64_t> scales_shape(const at::Tensor& values, Granularity granularity,
                                  int64_t count) {
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = 1;
  const bool is_by_row = granularity != Granularity::Tensor;
  if (!is_by_row && sizes.size() > 1) sizes[sizes.size() - 2] = 1;
  // Static scales are the same for all matrices.
  const bool is_for_all = count < values.numel() / values.size(-1) && is_by_row;
  if (count == 1 || is_for_all)
    std::fill(sizes.begin(), sizes.end() - (count == 1 ? 0 : 2), int64_t{1});
  return sizes;
}

// The CPU: one matrix at a time, as the scalar truth takes them.

/// One scale a matrix or a row, in the shape that broadcasts to `in`.
at::Tensor scales_here(const Quantizer& quantizer, const at::Tensor& in) {
  const MatricesShape shape = shape_of(in);
  const int64_t size = shape.rows * shape.length;
  std::vector<float> all;
  for (int64_t matrix = 0; matrix < shape.matrices; ++matrix)
    for (const Scale& scale :
         quantizer.scales_of({in.data_ptr<float>() + matrix * size, shape.rows, shape.length}))
      all.push_back(scale.scale);
  return at::tensor(all).view(scales_shape(in, quantizer.spec().granularity, std::ssize(all)));
}

Quantized quantize_here(const Quantizer& quantizer, const at::Tensor& values,
                        const QuantizeOptions& options) {
  const at::Tensor in = values.to(at::kFloat).contiguous();
  const at::Tensor out = at::empty_like(in);
  Quantized result;
  if (options.mask == ClipMask::Inside) result.inside = at::empty(in.sizes(), at::kBool);
  const MatricesShape shape = shape_of(in);
  const int64_t size = shape.rows * shape.length;
  at::parallel_for(0, shape.matrices, 1, [&](int64_t begin, int64_t end) {
    for (int64_t matrix = begin; matrix < end; ++matrix) {
      const quant::ConstMat from{in.data_ptr<float>() + matrix * size, shape.rows, shape.length};
      if (options.mask == ClipMask::Inside)
        quant::find_inside(quantizer, from, result.inside.data_ptr<bool>() + matrix * size);
      quantizer.fake_quantize(from,
                              {out.data_ptr<float>() + matrix * size, shape.rows, shape.length});
    }
  });
  if (options.scales == ScalesGo::Apart) {
    result.scales = scales_here(quantizer, in);
    result.values = (out / result.scales).to(at::kBFloat16);
  } else {
    result.values = out.to(options.type);
  }
  return result;
}

// CUDA: block formats in one pass; otherwise scales first, then values.

class DeviceQuantizer {
 public:
  DeviceQuantizer(const Quantizer& quantizer, const at::Tensor& in, MatricesShape shape)
      : quantizer_(quantizer), spec_(quantizer.spec()), in_(in), shape_(shape) {}

  /// Returns the scales, [count, 2], where they were found apart from the values.
  at::Tensor run(const cuda::QuantizeBuffers& buffers) const {
    if (spec_.format->scaling == Scaling::PowerOfTwo && spec_.window == quant::kNoWindow) {
      cuda::quantize_blocks(spec_, shape_, buffers, current_stream());
      return {};
    }
    at::Tensor scales = scales_of();
    cuda::apply_scales(spec_, shape_, as<Scale>(scales), index(), buffers, current_stream());
    return scales;
  }

 private:
  template <class Pair>
  static Pair* as(const at::Tensor& pairs) {
    static_assert(sizeof(Pair) == 2 * sizeof(float));
    return reinterpret_cast<Pair*>(pairs.data_ptr<float>());
  }
  [[nodiscard]] at::Tensor pairs(int64_t count) const {
    return at::empty({count, 2}, in_.options().dtype(at::kFloat));
  }
  [[nodiscard]] int64_t groups() const { return (shape_.length + run_length() - 1) / run_length(); }
  [[nodiscard]] bool is_grouped() const {
    return spec_.granularity == Granularity::Group || spec_.granularity == Granularity::Block;
  }
  /// Of a run within a row; the runs of a whole tensor are found row by row first.
  [[nodiscard]] int64_t run_length() const { return is_grouped() ? spec_.group : shape_.length; }

  [[nodiscard]] cuda::ScaleIndex index() const {
    const bool is_static = spec_.source == Source::Static;
    if (spec_.granularity == Granularity::Channel && is_static) return {0, 1, shape_.length};
    if (spec_.granularity == Granularity::Unit || is_static) return {0, 0, shape_.length};
    if (spec_.granularity == Granularity::Tensor) return {1, 0, shape_.length};
    return {shape_.rows * groups(), groups(), run_length()};
  }

  [[nodiscard]] at::Tensor scales_of() const {
    if (spec_.granularity == Granularity::Unit) return constant({});
    if (spec_.source == Source::Static && quantizer_.static_scales().size() == 1)
      return constant(quantizer_.static_scales()[0]);
    if (spec_.source == Source::Static) return static_scales();
    const int64_t runs = shape_.matrices * shape_.rows * groups();
    if (spec_.format->scaling == Scaling::PowerOfTwo) {
      at::Tensor scales = pairs(runs);
      cuda::block_scales(spec_, shape_, real_of(in_), in_.data_ptr(), as<Scale>(scales),
                         current_stream());
      return scales;
    }
    if (spec_.has_scale_codes()) {
      at::Tensor scales = pairs(runs);
      cuda::stored_scales(spec_, shape_, real_of(in_), in_.data_ptr(), as<Scale>(scales),
                          current_stream());
      return scales;
    }
    const at::Tensor extents = pairs(runs);
    cuda::extents(spec_, shape_, run_length(), real_of(in_), in_.data_ptr(),
                  as<quant::Extent>(extents), current_stream());
    return scales_of_extents(extents);
  }

  [[nodiscard]] at::Tensor scales_of_extents(at::Tensor extents) const {
    const at::Tensor scales =
        pairs(spec_.granularity == Granularity::Tensor ? shape_.matrices : extents.size(0));
    if (spec_.format->scaling == Scaling::TwoLevel) {
      const at::Tensor whole = of_matrices(extents);
      cuda::two_level_scales(spec_, as<quant::Extent>(extents), extents.size(0),
                             as<quant::Extent>(whole), shape_.rows * groups(), as<Scale>(scales),
                             current_stream());
      return scales;
    }
    const bool is_tensor = spec_.granularity == Granularity::Tensor;
    if (is_tensor) extents = of_matrices(extents);
    if (spec_.calibration.kind != quant::Calibration::Kind::Absmax)
      cuda::calibrate_extents(spec_, shape_, is_tensor ? 0 : run_length(), real_of(in_),
                              in_.data_ptr(), as<quant::Extent>(extents), current_stream());
    cuda::scales_of_extents(spec_, as<quant::Extent>(extents), extents.size(0), as<Scale>(scales),
                            current_stream());
    return scales;
  }

  /// [runs, 2] to [matrices, 2].
  [[nodiscard]] at::Tensor of_matrices(const at::Tensor& extents) const {
    const at::Tensor by_matrix = extents.view({shape_.matrices, -1, 2});
    return at::stack({by_matrix.select(2, 0).amin(1), by_matrix.select(2, 1).amax(1)}, 1);
  }

  /// Filled on the device: a copy from the host would wait for it.
  [[nodiscard]] at::Tensor constant(const Scale& scale) const {
    at::Tensor one = pairs(1);
    one.select(1, 0).fill_(scale.scale);
    one.select(1, 1).fill_(scale.zero);
    return one;
  }

  [[nodiscard]] at::Tensor static_scales() const {
    const std::vector<Scale>& scales = quantizer_.static_scales();
    DRIFTLESS_REQUIRE(std::ssize(scales) == shape_.rows, ErrorCode::InvalidArgument, "quantizer '",
                      to_string(spec_), "': static scales; got ", scales.size(), ", expected ",
                      shape_.rows);
    std::vector<float> flat;
    flat.reserve(2 * scales.size());
    for (const Scale& scale : scales) flat.insert(flat.end(), {scale.scale, scale.zero});
    return at::tensor(flat).to(in_.device()).view({-1, 2});
  }

  const Quantizer& quantizer_;
  const QuantSpec& spec_;
  const at::Tensor& in_;
  MatricesShape shape_;
};

Quantized quantize_there(const Quantizer& quantizer, const at::Tensor& values,
                         const QuantizeOptions& options) {
  const bool is_columns = lies_in_columns(values);
  // As it lies in memory: dense, and aligned for 16-byte pieces.
  at::Tensor in = is_columns ? values.transpose(-1, -2) : values.contiguous();
  if (reinterpret_cast<uintptr_t>(in.data_ptr()) % 16 != 0) in = in.clone();
  MatricesShape shape = shape_of(values);
  if (is_columns) shape.lie = Lie::Columns;
  const bool is_apart = options.scales == ScalesGo::Apart;
  const at::ScalarType type = is_apart ? at::kBFloat16 : options.type;
  const at::Tensor out = at::empty(in.sizes(), in.options().dtype(type));
  const bool has_mask = options.mask == ClipMask::Inside;
  const at::Tensor inside = has_mask ? at::empty(in.sizes(), in.options().dtype(at::kBool)) : in;
  const at::Tensor note = options.not_finite.defined()
                              ? options.not_finite
                              : at::zeros({1}, in.options().dtype(at::kInt));
  const at::Tensor scales =
      DeviceQuantizer(quantizer, in, shape)
          .run({real_of(in), in.data_ptr(), real_of(out), out.data_ptr(),
                has_mask ? inside.data_ptr<bool>() : nullptr, note.data_ptr<int32_t>(),
                is_apart ? cuda::Result::Elements : cuda::Result::Values});
  if (!options.not_finite.defined() && note.item<int32_t>() != 0) {
    quantize_here(quantizer, values.to(at::kCPU), options);
    fail(ErrorCode::Numeric, "quantize: a value is not finite; expected finite numbers");
  }
  const auto as_given = [&](const at::Tensor& lying) {
    return is_columns ? lying.transpose(-1, -2) : lying;
  };
  Quantized result{as_given(out), has_mask ? as_given(inside) : at::Tensor(), {}};
  if (is_apart)
    result.scales = scales.select(1, 0).reshape(
        scales_shape(values, quantizer.spec().granularity, scales.size(0)));
  return result;
}

}  // namespace

bool has_separable_scales(const QuantSpec& spec) {
  constexpr int kBf16MantissaBits = 7;
  const bool is_constant = spec.granularity == Granularity::Tensor ||
                           spec.granularity == Granularity::Channel ||
                           spec.granularity == Granularity::Token;
  return !spec.is_none() && is_constant && spec.format->element.mantissa_bits <= kBf16MantissaBits;
}

bool lies_in_columns(const at::Tensor& values) {
  return values.dim() >= 2 && !values.is_contiguous() && values.transpose(-1, -2).is_contiguous();
}

Quantized quantize(const Quantizer& quantizer, const at::Tensor& values,
                   const QuantizeOptions& options) {
  real_of(values);
  DRIFTLESS_REQUIRE(options.scales == ScalesGo::In || has_separable_scales(quantizer.spec()),
                    ErrorCode::InvalidArgument, "quantize: '", to_string(quantizer.spec()),
                    "': scales vary along a row or elements do not fit bfloat16; got scales apart");
  DRIFTLESS_REQUIRE(values.dim() >= 1, ErrorCode::InvalidArgument,
                    "quantize: got a number, expected [..., rows, K]");
  if (quantizer.spec().is_none() || values.numel() == 0) {
    Quantized same{values.to(options.type), {}, {}};
    if (options.mask == ClipMask::Inside)
      same.inside = at::ones(values.sizes(), values.options().dtype(at::kBool));
    return same;
  }
  return values.is_cuda() ? quantize_there(quantizer, values, options)
                          : quantize_here(quantizer, values, options);
}

}  // namespace driftless::lab
