// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/quantizer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/calibrate/threshold.h"
#include "driftless/quant/runs.h"
#include "driftless/quant/scale/block_scale.h"
#include "driftless/quant/scale/window.h"

namespace driftless::quant {
namespace {

using formats::Element;
using formats::Scaling;

[[noreturn]] void fail_not_finite(ConstMat in) {
  const auto values = in.all();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  const int64_t index = bad - values.begin();
  fail(ErrorCode::Numeric, "quantize: value ", index, " (row ", index / in.cols, ", column ",
       index % in.cols, ") is not finite; got ", *bad, ", expected finite numbers");
}

void require_shape(Mat out, int64_t rows, int64_t cols) {
  DRIFTLESS_REQUIRE(out.rows == rows && out.cols == cols, ErrorCode::InvalidArgument,
                    "quantize: shape of the output; got ", out.rows, " x ", out.cols, ", expected ",
                    rows, " x ", cols);
}

}  // namespace

Quantizer::Quantizer(const QuantSpec& spec) : Quantizer(spec, {}) {}

Quantizer::Quantizer(const QuantSpec& spec, std::vector<Scale> static_scales)
    : spec_(spec), static_scales_(std::move(static_scales)), kernels_(&kernels()) {
  const bool is_static = spec.source == Source::Static;
  DRIFTLESS_REQUIRE(is_static == !static_scales_.empty(), ErrorCode::InvalidArgument, "quantizer '",
                    to_string(spec), "': static scales; got ", static_scales_.size(), ", expected ",
                    is_static ? "at least one; calibrate first" : "none");
  for (const Scale& scale : static_scales_) {
    DRIFTLESS_REQUIRE(scale.scale > 0 && std::isnormal(scale.scale) && std::isfinite(scale.zero),
                      ErrorCode::InvalidArgument, "quantizer '", to_string(spec),
                      "': static scale; got ", scale.scale, " with zero point ", scale.zero,
                      ", expected a positive normal number and a finite zero point");
  }
  if (!spec_.is_none()) block_scaling_ = formats::block_scaling(element(), spec_.rule);
}

void Quantizer::require_scales_for(int64_t rows) const {
  if (spec_.source != Source::Static) return;
  const auto expected =
      static_cast<size_t>(spec_.granularity == Granularity::Channel ? rows : int64_t{1});
  DRIFTLESS_REQUIRE(static_scales_.size() == expected, ErrorCode::InvalidArgument, "quantizer '",
                    to_string(spec_), "': static scales; got ", static_scales_.size(),
                    ", expected ", expected);
}

float Quantizer::checked_absmax(ConstMat in, std::span<const float> values) const {
  const uint32_t bits = kernels_->absmax_bits(values.data(), static_cast<int64_t>(values.size()));
  if (bits >= formats::kFloatInfinityBits) fail_not_finite(in);
  return std::bit_cast<float>(bits);
}

float Quantizer::tensor_scale_for(ConstMat in) const {
  if (spec_.format->scaling != Scaling::TwoLevel) return 1;
  return formats::two_level_tensor_scale(element(), checked_absmax(in, in.all()));
}

Quantizer::RunScale Quantizer::scale_for(ConstMat in, std::span<const float> run, int64_t index,
                                         float tensor_scale) const {
  const float absmax = checked_absmax(in, run);
  if (spec_.format->scaling == Scaling::TwoLevel) {
    const uint16_t code = formats::two_level_block_scale(element(), absmax, tensor_scale);
    return {{.scale = formats::two_level_scale(code, tensor_scale)}, static_cast<uint8_t>(code)};
  }
  if (spec_.granularity == Granularity::Unit) return {};
  if (spec_.source == Source::Static) return {static_scales_[static_cast<size_t>(index)]};
  if (spec_.has_scale_codes()) return {{.scale = block_scale(spec_, run, absmax, *kernels_)}};
  return {scale_of(element(), threshold(spec_, run, absmax, *kernels_))};
}

void Quantizer::fake_rows(ConstMat in, Mat out) const {
  const bool is_block = spec_.granularity == Granularity::Block;
  const Groups groups{in.cols, spec_.group, spec_.scale_rule()};
  for (int64_t row = 0; row < in.rows; ++row) {
    const float* const x = in.row(row).data();
    float* const y = out.row(row).data();
    const int64_t stopped = is_block ? kernels_->fake_blocks(block_scaling_, x, groups, y, nullptr)
                                     : kernels_->fake_groups(element(), x, groups, y);
    if (stopped != kAllFinite) fail_not_finite(in);
  }
}

void Quantizer::fake_rows_on_units(ConstMat in, Mat out) const {
  std::vector<Scale> scales;
  for (int64_t row = 0; row < in.rows; ++row) {
    const ConstMat values{in.row(row).data(), 1, in.cols};
    const std::span<float> decoded = out.row(row);
    scales.clear();
    for_each_run(spec_, 1, in.cols, [&](int64_t index, int64_t first, int64_t length) {
      const std::span run(values.data + first, static_cast<size_t>(length));
      scales.push_back(scale_for(in, run, index, 1).scale);
      kernels_->fake_scaled(element(), scales.back(), run.data(), length, decoded.data() + first);
    });
    round_to_unit(row_unit(spec_, scales), decoded);
  }
}

void Quantizer::fake_rows_in_window(ConstMat in, Mat out) const {
  const Groups groups{in.cols, spec_.group};
  std::vector<uint8_t> scales(static_cast<size_t>(groups_per_row(spec_, in.cols)));
  for (int64_t row = 0; row < in.rows; ++row) {
    const float* const x = in.row(row).data();
    float* const y = out.row(row).data();
    const int64_t stopped = kernels_->fake_blocks(block_scaling_, x, groups, y, scales.data());
    if (stopped != kAllFinite) fail_not_finite(in);
    const uint8_t floor = window_floor(spec_, scales);
    // Above a lower code, so 2^-126 or more, as float scales have to be.
    const Scale raised{.scale = formats::E8m0fnu::decode(floor)};
    for (int64_t block = 0; block < std::ssize(scales); ++block) {
      if (scales[static_cast<size_t>(block)] >= floor) continue;
      const int64_t first = block * spec_.group;
      const int64_t length = std::min(spec_.group, in.cols - first);
      kernels_->fake_scaled(element(), raised, y + first, length, y + first);
    }
  }
}

void Quantizer::fake_quantize(ConstMat in, Mat out) const {
  require_shape(out, in.rows, in.cols);
  require_scales_for(in.rows);
  if (spec_.is_none()) {
    if (in.data != out.data) std::copy_n(in.data, in.size(), out.data);
    return;
  }
  const bool is_plain_group = spec_.granularity == Granularity::Group &&
                              spec_.calibration == Calibration{} &&
                              spec_.rule != formats::ExponentRule::Mse;
  const bool has_window = spec_.window != kNoWindow;
  if (has_window && spec_.has_scale_codes()) return fake_rows_on_units(in, out);
  if (has_window) return fake_rows_in_window(in, out);
  if (spec_.format->scaling == Scaling::PowerOfTwo || is_plain_group) return fake_rows(in, out);
  const float tensor_scale = tensor_scale_for(in);
  for_each_run(spec_, in.rows, in.cols, [&](int64_t index, int64_t first, int64_t length) {
    const std::span run(in.data + first, static_cast<size_t>(length));
    const Scale scale = scale_for(in, run, index, tensor_scale).scale;
    kernels_->fake_scaled(element(), scale, run.data(), length, out.data + first);
  });
}

std::vector<Scale> Quantizer::scales_of(ConstMat in) const {
  DRIFTLESS_REQUIRE(!spec_.is_none(), ErrorCode::InvalidArgument,
                    "quantizer 'none': has no scales; expected a format");
  require_scales_for(in.rows);
  const float tensor_scale = tensor_scale_for(in);
  std::vector<Scale> scales;
  scales.reserve(static_cast<size_t>(run_count(spec_, in.rows, in.cols)));
  for_each_run(spec_, in.rows, in.cols, [&](int64_t index, int64_t first, int64_t length) {
    const std::span run(in.data + first, static_cast<size_t>(length));
    if (spec_.format->scaling == Scaling::PowerOfTwo) {
      const bool is_zero = checked_absmax(in, run) == 0;
      const int exponent =
          is_zero ? formats::E8m0fnu::kMinExponent : formats::shared_exponent(block_scaling_, run);
      scales.push_back({.scale = formats::power_of_two(exponent)});
    } else {
      scales.push_back(scale_for(in, run, index, tensor_scale).scale);
    }
  });
  return scales;
}

void Quantizer::encode_rows(ConstMat in, QuantizedMatrix& out) const {
  const int64_t blocks = groups_per_row(spec_, in.cols);
  out.scales.codes.resize(static_cast<size_t>(in.rows * blocks));
  for (int64_t row = 0; row < in.rows; ++row) {
    const std::span codes(out.codes.data() + row * in.cols, static_cast<size_t>(in.cols));
    const std::span scales(out.scales.codes.data() + row * blocks, static_cast<size_t>(blocks));
    const int64_t stopped = kernels_->encode_blocks(
        block_scaling_, in.row(row).data(), {in.cols, spec_.group}, codes.data(), scales.data());
    if (stopped != kAllFinite) fail_not_finite(in);
    limit_to_window(spec_, codes, scales);
  }
}

void Quantizer::encode_run(const Scale& scale, std::span<const float> run, uint8_t* codes) const {
  const bool is_integer =
      element().code_sign == formats::CodeSign::TwosComplement && !is_asymmetric(element());
  if (!is_integer) {
    std::transform(run.begin(), run.end(), codes,
                   [&](float x) { return static_cast<uint8_t>(encode(element(), scale, x)); });
    return;
  }
  kernels_->encode_integers(element(), run.data(), std::ssize(run), {scale.scale, 0}, codes);
  const auto mask = static_cast<uint8_t>((1 << element().bits) - 1);
  for (size_t i = 0; i < run.size(); ++i) codes[i] &= mask;
}

QuantizedMatrix Quantizer::quantize(ConstMat in) const {
  DRIFTLESS_REQUIRE(!spec_.is_none() && element().bits <= 8, ErrorCode::Unsupported,
                    "quantize: codes of '", to_string(spec_),
                    "'; expected a format of at most 8 bits");
  require_scales_for(in.rows);
  QuantizedMatrix out{.spec = spec_, .rows = in.rows, .cols = in.cols};
  out.codes.resize(static_cast<size_t>(in.size()));
  if (spec_.format->scaling == Scaling::PowerOfTwo) {
    encode_rows(in, out);
    return out;
  }
  out.scales.tensor_scale = tensor_scale_for(in);
  for_each_run(spec_, in.rows, in.cols, [&](int64_t index, int64_t first, int64_t length) {
    const std::span run(in.data + first, static_cast<size_t>(length));
    const auto [scale, code] = scale_for(in, run, index, out.scales.tensor_scale);
    if (spec_.format->scaling == Scaling::TwoLevel) {
      out.scales.codes.push_back(code);
    } else {
      out.scales.floats.push_back(scale);
    }
    encode_run(scale, run, out.codes.data() + first);
  });
  return out;
}

Scale run_scale(const QuantizedMatrix& matrix, int64_t index) {
  const auto at = static_cast<size_t>(index);
  const RunScales& scales = matrix.scales;
  switch (matrix.spec.format->scaling) {
    case Scaling::PowerOfTwo:
      return {.scale = formats::E8m0fnu::decode(scales.codes[at])};
    case Scaling::TwoLevel:
      return {.scale = formats::two_level_scale(scales.codes[at], scales.tensor_scale)};
    case Scaling::None:
      break;
  }
  return scales.floats[at];
}

void dequantize(const QuantizedMatrix& in, Mat out) {
  require_shape(out, in.rows, in.cols);
  const Element& element = in.spec.format->element;
  for_each_run(in.spec, in.rows, in.cols, [&](int64_t index, int64_t first, int64_t length) {
    const Scale scale = run_scale(in, index);
    for (int64_t i = first; i < first + length; ++i) {
      out.data[i] = decode(element, scale, in.codes[static_cast<size_t>(i)]);
    }
  });
  if (!in.spec.has_scale_codes() || in.spec.window == kNoWindow) return;
  const auto blocks = static_cast<size_t>(groups_per_row(in.spec, in.cols));
  for (int64_t row = 0; row < in.rows; ++row) {
    const std::span scales(in.scales.floats);
    round_to_unit(row_unit(in.spec, scales.subspan(static_cast<size_t>(row) * blocks, blocks)),
                  out.row(row));
  }
}

void find_inside(const Quantizer& quantizer, ConstMat in, bool* inside) {
  if (quantizer.spec().is_none()) {
    std::fill_n(inside, in.size(), true);
    return;
  }
  const std::vector<Scale> scales = quantizer.scales_of(in);
  const Extent bounds = unclipped(quantizer.spec().format->element);
  for_each_run(quantizer.spec(), in.rows, in.cols,
               [&](int64_t index, int64_t first, int64_t length) {
                 const Scale& scale = scales[static_cast<size_t>(index)];
                 for (int64_t i = first; i < first + length; ++i)
                   inside[i] = is_inside(bounds, scale, in.data[i]);
               });
}

}  // namespace driftless::quant
