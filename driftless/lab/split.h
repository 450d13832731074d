// SPDX-License-Identifier: Apache-2.0
// How widening splits a weight between the two copies of the channel that it reads. Free of torch.
#pragma once

#include <array>
#include <string_view>

namespace driftless::lab {

/// One copy gets half of the weight and something random, the other the rest. That tells the copies
/// apart: with equal halves their gradients would stay equal.
struct Split {
  enum class Unit { Weight, Matrix };  ///< the weight itself, or its matrix's root mean square

  std::string_view name;
  double deviation;  ///< of what is random, a normal distribution cut at two standard deviations
  Unit unit;         ///< of the deviation
};

/// "random" keeps the scale at 1/sqrt(fan in). Shares s multiply the kurtosis by E s^4 / (E s^2)^2
/// = 2.3, and the largest weight over the root mean square by as much. "even" leaves both, since it
/// moves large weights no more than small ones; weights are half as large.
inline constexpr std::array<Split, 2> kSplits = {
    {{"random", 1.0 / 2, Split::Unit::Weight}, {"even", 1.0 / 16, Split::Unit::Matrix}}};

/// Throws InvalidArgument with the names that there are.
const Split& find_split(std::string_view name);

}  // namespace driftless::lab
