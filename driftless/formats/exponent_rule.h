// SPDX-License-Identifier: Apache-2.0
// How a block's shared exponent follows from its largest magnitude. Write a = |largest| =
// f * 2^e with f in [1, 2), and max = fm * 2^emax for the largest element value. Then the exponent
// is S = e - emax, one more, or one less:
//
//   floor    never moved (the OCP sample conversion, the default)
//   ceil     + 1 when f > 1: ceil(log2 a) - emax
//   even     + 1 when rounding a to the element's mantissa reaches 2^(e+1): f >= 2 - 2^-(m+1)
//   rceil    + 1 when f > fm: ceil(log2(a / max)), never clips
//   midmax   + 1 when a lies past the midpoint of max * 2^S and the next power of two
//   round    nearest integer to log2(a / max); may also be - 1
//   mse      of S - 1, S, S + 1 the one with the least squared error over the block
//
// All but mse are two thresholds on the 23 fraction bits of f; nothing calls log2.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/formats/element.h"

namespace driftless::formats {

enum class ExponentRule : uint8_t { Floor, Ceil, Even, Rceil, Midmax, Round, Mse };

struct ExponentRuleName {
  ExponentRule rule;
  std::string_view name;
};

/// Every rule with its name, in the order of the enumeration.
std::span<const ExponentRuleName> exponent_rules() noexcept;
std::string_view name_of(ExponentRule rule) noexcept;
/// Throws InvalidArgument that names the nearest rule.
ExponentRule exponent_rule_by_name(std::string_view name);

/// S = e - emax, + 1 when fraction >= raise_from, - 1 when fraction < lower_below.
struct ExponentThresholds {
  uint32_t raise_from;
  uint32_t lower_below;
};

/// The thresholds of Mse are those of Floor, where its candidates start.
ExponentThresholds exponent_thresholds(ExponentRule rule, const Element& element) noexcept;

}  // namespace driftless::formats
