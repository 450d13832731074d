// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/peaks.h"

#include <atomic>
#include <chrono>
#include <limits>

#include "driftless/base/isa.h"
#include "driftless/base/spin_wait.h"
#include "driftless/bench/pinned.h"
#include "driftless/integer/kernels/kernel_set.h"

namespace driftless::bench {

std::span<const KernelCandidate<PeakSet>> compiled_kernels() noexcept;

std::vector<PeakKernel> peak_kernels() {
  std::vector<PeakKernel> kernels;
  for (const PeakSet* set : allowed(compiled_kernels()))
    kernels.insert(kernels.end(), set->peaks.begin(), set->peaks.end());
  for (const integer::KernelSet* set : integer::available_kernels())
    if (is_allowed(set->name)) kernels.push_back({set->name, true, set->peak});
  return kernels;
}

PeakKernel int8_peak() {
  const integer::KernelSet& best = integer::kernels();
  return {best.name, true, best.peak};
}

namespace {

using Clock = std::chrono::steady_clock;

/// Runs `work` once on each thread of the pool, on a processor of its own where there are enough.
/// None begins before all are there, so that no thread has two shares. Seconds from then until the
/// last is done.
template <class Work>
double seconds_together(ThreadPool& pool, const Work& work) {
  const int64_t threads = pool.thread_count();
  std::atomic<int64_t> there{0};
  std::atomic<int64_t> begin{std::numeric_limits<int64_t>::max()};
  std::atomic<int64_t> end{0};
  const auto now = [] { return Clock::now().time_since_epoch().count(); };
  pool.parallel_for(threads, [&](int64_t, int64_t worker) {
    const Pinned pinned(worker);
    if (++there == threads) {
      begin = now();
      there.notify_all();
    }
    for (int64_t seen = there; seen < threads; seen = there) wait_for_change(there, seen);
    work();
    const int64_t mine = now();
    for (int64_t last = end; last < mine && !end.compare_exchange_weak(last, mine);) {
    }
  });
  return std::chrono::duration<double>(Clock::duration(end - begin)).count();
}

}  // namespace

Contender peak_contender(const PeakKernel& kernel, ThreadPool& pool) {
  // As many rounds as take a tenth of a millisecond, found by doubling.
  constexpr double kWantedSeconds = 1e-4;
  int64_t rounds = 64;
  while (seconds_of([&] { (void)kernel.run(rounds); }) < kWantedSeconds &&
         rounds < (int64_t{1} << 30))
    rounds *= 2;
  const auto per_thread = static_cast<double>(kernel.run(rounds));
  return {.name = std::string(kernel.name),
          .timed_work = [run = kernel.run, rounds,
                         &pool] { return seconds_together(pool, [&] { (void)run(rounds); }); },
          .operations = 2 * per_thread * static_cast<double>(pool.thread_count())};
}

}  // namespace driftless::bench
