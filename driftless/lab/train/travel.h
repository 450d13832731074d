// SPDX-License-Identifier: Apache-2.0
// A run's state in the form in which it moves to another machine, 10 bytes a weight instead of 16:
// weights as they are, both moments in bfloat16, the average as its difference from the weights in
// bfloat16. Roundings are stochastic, so that the mean of every moment and of the average stays.
// load_run() reads either form; boards in flight do not travel.
#pragma once

#include <filesystem>

namespace driftless::lab {

/// Writes the state file of a run for travel. Draws are seeded by the run's step: the same state
/// gives the same file, and a file in this form itself. Throws Io, BadFile, or Numeric where a
/// moment is not finite.
void save_for_travel(const std::filesystem::path& state, const std::filesystem::path& out);

}  // namespace driftless::lab
