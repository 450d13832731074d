// SPDX-License-Identifier: Apache-2.0
// A quantizer as data, and its text form: format[/granularity][/source][,option=value...].
//
//   none                          keep float
//   int4/tensor/static            one calibrated scale
//   int4/group32                  one scale per 32 neighbors along the reduction axis
//   uint8/token                   asymmetric: one scale and zero point per row
//   int8/channel,calib=mse        the scale of least squared error instead of the absolute maximum
//   int4/tensor/static,calib=p99.9,fold=mean
//   mxint4,rule=mse,block=16      block formats bring their own scales
//   mxint4,window=4               no block's exponent lies more than 4 below its row's largest
//   int4/block32,scale=e5m3       blocks whose scale has fractions (formats/scale_format.h)
//   int4/block32,scale=fp16,rule=mse
//   int4/block32,scale=e5m3,window=0   its values are multiples of one unit a row (scale/window.h)
//   int4_full/block32,scale=s4m3       scales with a sign
//   bf16                          a cast, no scale
//
// Matrices are row-major with the reduction axis along a row: a row is an output channel of a
// weight and a token of an activation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "driftless/formats/exponent_rule.h"
#include "driftless/formats/scale_format.h"
#include "driftless/formats/table.h"

namespace driftless::quant {

/// Which values share a scale.
enum class Granularity : uint8_t {
  Unit,     ///< none: the scale is 1, quantizing is a cast
  Tensor,   ///< the whole matrix
  Channel,  ///< a row of a weight
  Token,    ///< a row of an activation
  Group,    ///< `group` neighbors in a row
  Block,    ///< as Group, scaled by the rule of the block format
};

/// When scales are chosen.
enum class Source : uint8_t {
  Dynamic,  ///< from the values being quantized
  Static,   ///< ahead of time, by calibration
};

/// How a scale follows from observed values.
struct Calibration {
  enum class Kind : uint8_t { Absmax, Percentile, Mse } kind = Kind::Absmax;
  double percentile = 100;  ///< of |x|, for Percentile
  bool operator==(const Calibration&) const = default;
};

/// How the thresholds of one layer's many calls become one.
struct Fold {
  enum class Kind : uint8_t { Max, Mean, Percentile } kind = Kind::Max;
  double percentile = 100;
  bool operator==(const Fold&) const = default;
};

/// The window of a spec without one: a row's exponents may lie as far apart as they like.
inline constexpr int64_t kNoWindow = -1;

struct QuantSpec {
  const formats::Format* format = nullptr;  ///< null keeps float
  Granularity granularity = Granularity::Unit;
  int64_t group = 0;  ///< values per scale, for Group and Block
  /// What the scales of groups are rounded to: blockN in the text form where it is not Float32.
  formats::ScaleFormat scale = formats::ScaleFormat::Float32;
  Source source = Source::Dynamic;
  formats::ExponentRule rule = formats::ExponentRule::Floor;  ///< Round, Rceil, Mse with `scale`
  int64_t window = kNoWindow;  ///< octaves that a row may span, for mx formats and `scale`
  Calibration calibration{};
  Fold fold{};

  [[nodiscard]] bool has_scale_codes() const noexcept {
    return scale != formats::ScaleFormat::Float32;
  }
  /// How the scale of a group is rounded; Mse starts from the nearest one.
  [[nodiscard]] formats::ScaleRule scale_rule() const noexcept {
    const bool is_up = rule == formats::ExponentRule::Rceil;
    return {scale, is_up ? formats::ScaleRounding::Up : formats::ScaleRounding::Nearest};
  }
  /// Whether scales are codes of a block, e8m0 or any other, not floats.
  [[nodiscard]] bool is_in_blocks() const noexcept {
    return granularity == Granularity::Block || has_scale_codes();
  }
  [[nodiscard]] bool is_none() const noexcept { return format == nullptr; }
  bool operator==(const QuantSpec&) const = default;
};

/// Reads the text form. Throws InvalidArgument with the nearest valid word.
QuantSpec parse_quant_spec(std::string_view text);

/// The canonical text form: everything that differs from the format's defaults.
std::string to_string(const QuantSpec& spec);

}  // namespace driftless::quant
