// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/scheme.h"

#include <sstream>

namespace driftless::quant {

std::string_view to_string(Coverage coverage) { return enum_name(kCoverages, coverage); }
std::string_view to_string(BiasPrecision precision) {
  return enum_name(kBiasPrecisions, precision);
}
std::string_view to_string(AttentionPrecision precision) {
  return enum_name(kAttentionPrecisions, precision);
}
std::string_view to_string(ScaleSharing sharing) { return enum_name(kScaleSharings, sharing); }

Coverage parse_coverage(std::string_view text) {
  return parse_enum(kCoverages, text, "coverage", ErrorCode::InvalidArgument);
}
BiasPrecision parse_bias_precision(std::string_view text) {
  return parse_enum(kBiasPrecisions, text, "bias precision", ErrorCode::InvalidArgument);
}
AttentionPrecision parse_attention_precision(std::string_view text) {
  return parse_enum(kAttentionPrecisions, text, "attention", ErrorCode::InvalidArgument);
}
ScaleSharing parse_scale_sharing(std::string_view text) {
  return parse_enum(kScaleSharings, text, "scale sharing", ErrorCode::InvalidArgument);
}

std::string to_string(const Scheme& scheme) {
  std::ostringstream text;
  text << "weights " << to_string(scheme.weights) << ", acts " << to_string(scheme.acts)
       << ", coverage " << to_string(scheme.coverage);
  if (scheme.bias != BiasPrecision::Float) text << ", bias " << to_string(scheme.bias);
  if (scheme.sharing != ScaleSharing::All) text << ", scales per " << to_string(scheme.sharing);
  if (scheme.smooth) text << ", smooth " << *scheme.smooth;
  if (scheme.hadamard) text << ", hadamard";
  if (scheme.delta) text << ", delta";
  if (scheme.attention != AttentionPrecision::Float)
    text << ", attention " << to_string(scheme.attention);
  return text.str();
}

}  // namespace driftless::quant
