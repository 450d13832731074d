// SPDX-License-Identifier: Apache-2.0
// One choice of quantizers for a whole model, and the linear layers that it meets. A plan (plan.h)
// is what a scheme becomes for one model.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driftless/base/text/enum_names.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

/// Which linear layers are quantized. Block: those of the recursive block. Linear: all, the heads
/// included. Embeddings stay float.
enum class Coverage : uint8_t { Block, Linear };

/// How biases are stored: as they are, or as integers (see bias.h).
enum class BiasPrecision : uint8_t { Float, Int16, Int32 };

/// What the two products of attention multiply: floats, or int8 codes (see int8_row.h and
/// docs/numerics.md, "Attention in int8").
enum class AttentionPrecision : uint8_t { Float, Int8 };

/// Which network calls of a supervision step share a static scale. All: every call of the layer.
/// Role: the calls that update z_L, and those that update z_H. Call: each has its own.
enum class ScaleSharing : uint8_t { All, Role, Call };

inline constexpr std::array<EnumName<Coverage>, 2> kCoverages = {
    {{Coverage::Block, "block"}, {Coverage::Linear, "linear"}}};
inline constexpr std::array<EnumName<BiasPrecision>, 3> kBiasPrecisions = {
    {{BiasPrecision::Float, "float"},
     {BiasPrecision::Int16, "int16"},
     {BiasPrecision::Int32, "int32"}}};
inline constexpr std::array<EnumName<AttentionPrecision>, 2> kAttentionPrecisions = {
    {{AttentionPrecision::Float, "none"}, {AttentionPrecision::Int8, "int8"}}};
inline constexpr std::array<EnumName<ScaleSharing>, 3> kScaleSharings = {
    {{ScaleSharing::All, "all"}, {ScaleSharing::Role, "role"}, {ScaleSharing::Call, "call"}}};

std::string_view to_string(Coverage coverage);
std::string_view to_string(BiasPrecision precision);
std::string_view to_string(AttentionPrecision precision);
std::string_view to_string(ScaleSharing sharing);

/// The enumerator called `text`. Throws InvalidArgument with the nearest name.
Coverage parse_coverage(std::string_view text);
BiasPrecision parse_bias_precision(std::string_view text);
AttentionPrecision parse_attention_precision(std::string_view text);
ScaleSharing parse_scale_sharing(std::string_view text);

struct Scheme {
  QuantSpec weights{};
  QuantSpec acts{};
  Coverage coverage = Coverage::Block;
  BiasPrecision bias = BiasPrecision::Float;
  ScaleSharing sharing = ScaleSharing::All;  ///< of static activation scales
  std::optional<double> smooth{};            ///< SmoothQuant strength, 0 to 1
  bool hadamard = false;                     ///< rotate inputs and weights of each layer
  bool delta = false;                        ///< see LayerPlan::delta; layers of the block only
  AttentionPrecision attention = AttentionPrecision::Float;

  bool operator==(const Scheme&) const = default;
};

/// "weights int4, acts int4/tensor/static, coverage block", then what differs from the defaults:
/// ", bias int16, scales per role, smooth 0.5, hadamard, delta, attention int8".
std::string to_string(const Scheme& scheme);

/// A linear layer by the name of its weight [outputs, inputs] in the checkpoint.
struct LinearLayer {
  std::string name;
  int64_t outputs = 0;
  int64_t inputs = 0;
  bool is_in_block = true;  ///< of the recursive block; false for the heads
  bool has_bias = false;
  bool feeds_attention = false;  ///< its outputs are queries, keys and values
};

}  // namespace driftless::quant
