// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/peaks.h"

#include <atomic>

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

Contender peak_contender(const PeakKernel& kernel, ThreadPool& pool) {
  // As many rounds as take that long, found by doubling; waking the threads is little beside it.
  constexpr double kWantedSeconds = 2e-4;
  int64_t rounds = 64;
  while (seconds_of([&] { (void)kernel.run(rounds); }) < kWantedSeconds &&
         rounds < (int64_t{1} << 30))
    rounds *= 2;
  const auto per_thread = static_cast<double>(kernel.run(rounds));
  return {.name = std::string(kernel.name),
          .work =
              [run = kernel.run, rounds, &pool] {
                // None begins before all are there, so that each thread has one share.
                const int64_t threads = pool.thread_count();
                std::atomic<int64_t> there{0};
                pool.parallel_for(threads, [&](int64_t, int64_t worker) {
                  const Pinned pinned(worker);
                  if (++there == threads) there.notify_all();
                  for (int64_t now = there; now < threads; now = there) wait_for_change(there, now);
                  (void)run(rounds);
                });
              },
          .operations = 2 * per_thread * static_cast<double>(pool.thread_count())};
}

}  // namespace driftless::bench
