// SPDX-License-Identifier: Apache-2.0
#include "driftless/formats/exponent_rule.h"

#include <array>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/formats/float_bits.h"

namespace driftless::formats {
namespace {

constexpr std::array kRules = {
    ExponentRuleName{ExponentRule::Floor, "floor"},
    ExponentRuleName{ExponentRule::Ceil, "ceil"},
    ExponentRuleName{ExponentRule::Even, "even"},
    ExponentRuleName{ExponentRule::Rceil, "rceil"},
    ExponentRuleName{ExponentRule::Midmax, "midmax"},
    ExponentRuleName{ExponentRule::Round, "round"},
    ExponentRuleName{ExponentRule::Mse, "mse"},
};

constexpr uint32_t kOne = 1u << kFloatMantissaBits;
constexpr uint32_t kNever = kOne;

/// The least fraction with f^2 >= ratio * fm^2, where ratio is 1/2 or 2: the first value of an
/// octave that lies past fm / sqrt(2) or fm * sqrt(2). The squares have at most 48 bits and are
/// exact.
uint32_t first_at_or_past_root(uint32_t max_fraction, int ratio_shift) {
  const uint64_t fm = kOne + max_fraction;
  const uint64_t target = fm * fm;
  const auto is_past = [&](uint32_t fraction) {
    const uint64_t square = (uint64_t{kOne} + fraction) * (uint64_t{kOne} + fraction);
    return ratio_shift > 0 ? square >= 2 * target : 2 * square >= target;
  };
  uint32_t low = 0;
  uint32_t high = kOne;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (is_past(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

std::span<const ExponentRuleName> exponent_rules() noexcept { return kRules; }

std::string_view name_of(ExponentRule rule) noexcept {
  return kRules[static_cast<size_t>(rule)].name;
}

ExponentRule exponent_rule_by_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ExponentRuleName& row : kRules) {
    if (row.name == name) return row.rule;
    names.push_back(row.name);
  }
  fail(ErrorCode::InvalidArgument, "exponent rule: unknown; got '", name, "', expected one of ",
       join(names, ", "), did_you_mean(name, names));
}

ExponentThresholds exponent_thresholds(ExponentRule rule, const Element& element) noexcept {
  const uint32_t max_fraction = octave_of(element.max).fraction;
  switch (rule) {
    case ExponentRule::Ceil:
      return {.raise_from = 1, .lower_below = 0};
    case ExponentRule::Even:
      return {.raise_from = kOne - (kOne >> (element.mantissa_bits + 1)), .lower_below = 0};
    case ExponentRule::Rceil:
      return {.raise_from = max_fraction + 1, .lower_below = 0};
    case ExponentRule::Midmax:
      return {.raise_from = (max_fraction + kOne) / 2 + 1, .lower_below = 0};
    case ExponentRule::Round:
      return {.raise_from = first_at_or_past_root(max_fraction, 1),
              .lower_below = first_at_or_past_root(max_fraction, -1)};
    case ExponentRule::Floor:
    case ExponentRule::Mse:
      break;
  }
  return {.raise_from = kNever, .lower_below = 0};
}

}  // namespace driftless::formats
