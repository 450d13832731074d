// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::study {

namespace {

/// The sum of term(0) ... term(count - 1) in eight interleaved parts, which are added pairwise: a
/// single chain of additions would wait for each.
template <class Term>
double sum_of(size_t count, const Term& term) {
  constexpr size_t kParts = 8;
  std::array<double, kParts> parts{};
  size_t i = 0;
  for (; i + kParts <= count; i += kParts)
    for (size_t part = 0; part < kParts; ++part) parts[part] += term(i + part);
  for (size_t part = 0; i < count; ++i, ++part) parts[part] += term(i);
  for (size_t half = kParts / 2; half > 0; half /= 2)
    for (size_t part = 0; part < half; ++part) parts[part] += parts[part + half];
  return parts[0];
}

}  // namespace

task::Interval interval_of(const task::Moments& moments, Values values) {
  const task::Interval wide = moments.interval();
  switch (values) {
    case Values::Any:
      return wide;
    case Values::Cosine:
      return {.low = std::max(-1.0, wide.low), .high = std::min(1.0, wide.high)};
    case Values::Share:
      return moments.share_interval();
    case Values::Fact:
      return moments.share().interval();
  }
  return wide;
}

double dot(std::span<const float> a, std::span<const float> b) {
  DRIFTLESS_ASSERT(a.size() == b.size());
  return sum_of(a.size(),
                [&](size_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

double norm(std::span<const float> a) { return std::sqrt(dot(a, a)); }

double distance(std::span<const float> a, std::span<const float> b) {
  DRIFTLESS_ASSERT(a.size() == b.size());
  return std::sqrt(sum_of(a.size(), [&](size_t i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    return difference * difference;
  }));
}

double cosine(double dot_ab, double norm_a, double norm_b) {
  if (norm_a == 0 && norm_b == 0) return 1;
  return norm_a == 0 || norm_b == 0 ? 0 : dot_ab / (norm_a * norm_b);
}

std::string_view to_string(Verdict verdict) { return enum_name(kVerdictNames, verdict); }

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
