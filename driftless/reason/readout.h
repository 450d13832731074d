// SPDX-License-Identifier: Apache-2.0
// What a readout says: the answer, and whether it says anything at all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// Writes the first largest logit of each cell; returns whether any cell changed.
bool take_answer(const Readout& readout, std::span<uint8_t> tokens);

/// The first largest logit of each cell.
std::vector<uint8_t> answer_of(const Readout& readout, int64_t vocab_size);

/// Throws Numeric when a logit is not finite; the message names the board and the step, counted
/// from 1.
void require_finite(const Readout& readout, int64_t board, int64_t step);

}  // namespace driftless::reason
