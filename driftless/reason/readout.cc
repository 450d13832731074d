// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/readout.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::reason {

bool take_answer(const Readout& readout, std::span<uint8_t> tokens) {
  if (tokens.empty()) return false;
  const auto vocab_size = static_cast<int64_t>(readout.logits.size() / tokens.size());
  bool changed = false;
  const float* row = readout.logits.data();
  for (uint8_t& token : tokens) {
    const auto best = static_cast<uint8_t>(std::max_element(row, row + vocab_size) - row);
    changed |= best != token;
    token = best;
    row += vocab_size;
  }
  return changed;
}

std::vector<uint8_t> answer_of(const Readout& readout, int64_t vocab_size) {
  std::vector<uint8_t> answer(readout.logits.size() / static_cast<size_t>(vocab_size));
  take_answer(readout, answer);
  return answer;
}

void require_finite(const Readout& readout, int64_t board, int64_t step) {
  const auto is_finite = [](float logit) { return std::isfinite(logit); };
  DRIFTLESS_REQUIRE(is_finite(readout.halt_logit) && is_finite(readout.continue_logit) &&
                        std::all_of(readout.logits.begin(), readout.logits.end(), is_finite),
                    ErrorCode::Numeric, "board ", board, ", step ", step,
                    ": a logit is not finite; the weights may be damaged");
}

}  // namespace driftless::reason
