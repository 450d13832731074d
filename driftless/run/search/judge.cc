// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "driftless/base/error.h"
#include "driftless/run/search/search.h"

namespace driftless::run {
namespace {

double distance(std::span<const float> a, std::span<const float> b) {
  double square = 0;
  double size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    square += difference * difference;
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return size > 0 ? std::sqrt(square / size) : std::sqrt(square);
}

/// The states that the heads read after kJudgingSteps, of as many boards as there are slots.
std::vector<std::vector<float>> states_of(reason::Reasoner& reasoner,
                                          std::span<const reason::Board> boards) {
  std::vector<int64_t> slots(boards.size());
  std::iota(slots.begin(), slots.end(), int64_t{0});
  for (const int64_t slot : slots) reasoner.reset(slot, boards[static_cast<size_t>(slot)]);
  for (int64_t step = 0; step < kJudgingSteps; ++step) reasoner.step(slots);
  std::vector<std::vector<float>> states;
  for (const int64_t slot : slots) {
    const std::span<const float> state = reasoner.states(slot).h;
    states.emplace_back(state.begin(), state.end());
  }
  return states;
}

/// The boards from `first` on that one call can take.
std::span<const reason::Board> batch(std::span<const reason::Board> boards, size_t first,
                                     const reason::Reasoner& reasoner) {
  const auto most = static_cast<size_t>(reasoner.slot_count());
  return boards.subspan(first, std::min(most, boards.size() - first));
}

}  // namespace

double Judged::mean() const {
  if (errors.empty()) return 0;
  return std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
}

Gain gain(const Judged& before, const Judged& after) {
  const size_t count = std::min(before.errors.size(), after.errors.size());
  const auto n = static_cast<double>(count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += before.errors[i] - after.errors[i];
  double square = 0;
  for (size_t i = 0; i < count; ++i) {
    const double rest = before.errors[i] - after.errors[i] - sum / n;
    square += rest * rest;
  }
  return {.mean = sum / n, .standard_error = std::sqrt(square / (n - 1) / n)};
}

Judge::Judge(const store::Checkpoint& checkpoint, std::span<const reason::Board> boards,
             const BackendOptions& backend)
    : boards_(boards), backend_(backend) {
  const auto reasoner = make_reasoner(checkpoint, quant::QuantPlan{}, simulating(backend));
  while (exact_.size() < boards_.size())
    for (auto& state : states_of(*reasoner, batch(boards_, exact_.size(), *reasoner)))
      exact_.push_back(std::move(state));
}

Judged Judge::judge(const Pack& pack, const Judged* than) const {
  try {
    Judged judged;
    const auto reasoner = make_reasoner(pack(), backend_);
    add_errors(*reasoner, std::min<size_t>(kFirstBoards, boards_.size()), judged);
    if (than == nullptr || !gain(judged, *than).is_clear())
      add_errors(*reasoner, boards_.size(), judged);
    return judged;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported && error.code() != ErrorCode::Numeric) throw;
    return {.skipped = error.what()};
  }
}

/// Those of the boards after the ones that it has, up to so many.
void Judge::add_errors(reason::Reasoner& reasoner, size_t boards, Judged& judged) const {
  while (judged.errors.size() < boards) {
    const auto next = batch(boards_.first(boards), judged.errors.size(), reasoner);
    for (const std::vector<float>& state : states_of(reasoner, next)) {
      const double error = distance(state, exact_[judged.errors.size()]);
      DRIFTLESS_REQUIRE(std::isfinite(error), ErrorCode::Numeric, "a state is not finite after ",
                        kJudgingSteps, " steps");
      judged.errors.push_back(error);
    }
  }
}

}  // namespace driftless::run
