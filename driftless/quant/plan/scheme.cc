// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/scheme.h"

#include <sstream>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"

namespace driftless::quant {
namespace {

template <class Enum, size_t kCount>
std::string_view name_in(const std::array<Named<Enum>, kCount>& names, Enum value) {
  for (const auto& row : names)
    if (row.value == value) return row.name;
  return "";
}

template <class Enum, size_t kCount>
Enum parse_in(const std::array<Named<Enum>, kCount>& names, std::string_view what,
              std::string_view text) {
  std::vector<std::string_view> known;
  known.reserve(kCount);
  for (const auto& row : names) {
    if (row.name == text) return row.value;
    known.push_back(row.name);
  }
  fail(ErrorCode::InvalidArgument, what, ": unknown; got ", quote(text), ", expected one of ",
       join(known, ", "), did_you_mean(text, known));
}

}  // namespace

std::string_view to_string(Coverage coverage) { return name_in(kCoverages, coverage); }
std::string_view to_string(BiasPrecision precision) { return name_in(kBiasPrecisions, precision); }
std::string_view to_string(AttentionPrecision precision) {
  return name_in(kAttentionPrecisions, precision);
}
std::string_view to_string(ScaleSharing sharing) { return name_in(kScaleSharings, sharing); }

Coverage parse_coverage(std::string_view text) { return parse_in(kCoverages, "coverage", text); }
BiasPrecision parse_bias_precision(std::string_view text) {
  return parse_in(kBiasPrecisions, "bias precision", text);
}
AttentionPrecision parse_attention_precision(std::string_view text) {
  return parse_in(kAttentionPrecisions, "attention", text);
}
ScaleSharing parse_scale_sharing(std::string_view text) {
  return parse_in(kScaleSharings, "scale sharing", text);
}

std::string to_string(const Scheme& scheme) {
  std::ostringstream text;
  text << "weights " << to_string(scheme.weights) << ", acts " << to_string(scheme.acts)
       << ", coverage " << to_string(scheme.coverage);
  if (scheme.bias != BiasPrecision::Float) text << ", bias " << to_string(scheme.bias);
  if (scheme.sharing != ScaleSharing::All) text << ", scales per " << to_string(scheme.sharing);
  if (scheme.smooth) text << ", smooth " << *scheme.smooth;
  if (scheme.hadamard) text << ", hadamard";
  if (scheme.attention != AttentionPrecision::Float)
    text << ", attention " << to_string(scheme.attention);
  return text.str();
}

}  // namespace driftless::quant
