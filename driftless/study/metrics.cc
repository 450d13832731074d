// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/metrics.h"

#include <cmath>

#include "driftless/base/error.h"

namespace driftless::study {

double dot(std::span<const float> a, std::span<const float> b) {
  DRIFTLESS_ASSERT(a.size() == b.size());
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

double norm(std::span<const float> a) { return std::sqrt(dot(a, a)); }

double distance(std::span<const float> a, std::span<const float> b) {
  DRIFTLESS_ASSERT(a.size() == b.size());
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

double cosine(double dot_ab, double norm_a, double norm_b) {
  if (norm_a == 0 && norm_b == 0) return 1;
  return norm_a == 0 || norm_b == 0 ? 0 : dot_ab / (norm_a * norm_b);
}

std::string_view to_string(Verdict verdict) {
  return kVerdictNames[static_cast<size_t>(verdict)].name;
}

Verdict judge(std::span<const double> divergence, double unrelated) {
  DRIFTLESS_REQUIRE(!divergence.empty(), ErrorCode::InvalidArgument,
                    "verdict: no steps; expected at least 1");
  const double first = divergence.front();
  const double last = divergence.back();
  const bool comes_back = last <= kContractsBelow * first && last <= kRelatedLevel * unrelated;
  if (comes_back || last <= kNegligibleLevel * unrelated) return Verdict::Contracts;
  return last > kDriftsAbove * first ? Verdict::Drifts : Verdict::Saturates;
}

}  // namespace driftless::study
