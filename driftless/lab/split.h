// SPDX-License-Identifier: Apache-2.0
// How widening splits a weight between the two copies of the channel that it reads. Free of torch.
#pragma once

#include <array>
#include <string_view>

namespace driftless::lab {

/// One copy gets a random share of mean 1/2, the other the rest. Different shares tell the copies
/// apart: with equal ones their gradients would stay equal.
struct Split {
  std::string_view name;
  double deviation;  ///< of the shares, a normal distribution cut at two standard deviations
};

/// A share s turns the moments of a weight's distribution by those of s. "random" keeps the scale
/// at 1/sqrt(fan in), E s^2 = 1/2, and multiplies the kurtosis by E s^4 / (E s^2)^2 = 2.3. "even"
/// halves weights, and adds 6 % of kurtosis.
inline constexpr std::array<Split, 2> kSplits = {{{"random", 1.0 / 2}, {"even", 1.0 / 16}}};

/// Throws InvalidArgument with the names that there are.
const Split& find_split(std::string_view name);

}  // namespace driftless::lab
