// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/loss.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::reason {
namespace {

double stable(double logit) { return logit >= 0 ? logit + 1 : 1 / (1 - logit); }

}  // namespace

double stablemax_loss(std::span<const float> logits, std::span<const uint8_t> labels) {
  DRIFTLESS_ASSERT(!labels.empty() && logits.size() % labels.size() == 0);
  const size_t vocab_size = logits.size() / labels.size();
  double sum = 0;
  int64_t counted = 0;
  for (size_t cell = 0; cell < labels.size(); ++cell) {
    if (labels[cell] == 0) continue;
    DRIFTLESS_REQUIRE(labels[cell] < vocab_size, ErrorCode::InvalidArgument,
                      "label outside the model's vocabulary; got ", int{labels[cell]}, " at cell ",
                      cell, ", expected below ", vocab_size);
    const auto row = logits.subspan(cell * vocab_size, vocab_size);
    double total = 0;
    for (const float logit : row) total += stable(logit);
    sum -= std::log(stable(row[labels[cell]]) / total);
    ++counted;
  }
  return counted == 0 ? 0 : sum / static_cast<double>(counted);
}

double binary_loss(double logit, Target target) {
  const double against = target == Target::Yes ? -logit : logit;
  return std::max(against, 0.0) + std::log1p(std::exp(-std::fabs(against)));
}

}  // namespace driftless::reason
