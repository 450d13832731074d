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

/// Puts boards, at most as many as there are slots, into slots. Returns those.
std::vector<int64_t> seated(reason::Reasoner& reasoner, std::span<const reason::Board> boards) {
  std::vector<int64_t> slots(boards.size());
  std::iota(slots.begin(), slots.end(), int64_t{0});
  for (const int64_t slot : slots) reasoner.reset(slot, boards[static_cast<size_t>(slot)]);
  return slots;
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
  while (exact_.size() < boards_.size()) {
    const auto slots = seated(*reasoner, batch(boards_, exact_.size(), *reasoner));
    const size_t first = exact_.size();
    exact_.resize(first + slots.size());
    for (int64_t step = 0; step <= kJudgingSteps; ++step) {
      if (step > 0) reasoner->step(slots);
      for (const int64_t slot : slots) {
        const auto [h, l] = reasoner->states(slot);
        exact_[first + static_cast<size_t>(slot)].push_back(
            {{h.begin(), h.end()}, {l.begin(), l.end()}});
      }
    }
  }
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
    const size_t first = judged.errors.size();
    const auto slots = seated(reasoner, batch(boards_.first(boards), first, reasoner));
    judged.errors.resize(first + slots.size());
    for (size_t step = 1; step <= kJudgingSteps; ++step) {
      for (const int64_t slot : slots) {
        const States& from = exact_[first + static_cast<size_t>(slot)][step - 1];
        reasoner.set_states(slot, {from.h, from.l});
      }
      reasoner.step(slots);
      for (const int64_t slot : slots) {
        const size_t board = first + static_cast<size_t>(slot);
        const double error = distance(reasoner.states(slot).h, exact_[board][step].h);
        DRIFTLESS_REQUIRE(std::isfinite(error), ErrorCode::Numeric,
                          "a state is not finite after step ", step);
        judged.errors[board] += error / kJudgingSteps;
      }
    }
  }
}

}  // namespace driftless::run
