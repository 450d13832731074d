// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/peaks.h"

#include "driftless/base/isa.h"
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
  // As many rounds as take a tenth of a millisecond, found by doubling.
  constexpr double kWantedSeconds = 1e-4;
  int64_t rounds = 64;
  while (seconds_of([&] { (void)kernel.run(rounds); }) < kWantedSeconds &&
         rounds < (int64_t{1} << 30))
    rounds *= 2;
  const auto per_thread = static_cast<double>(kernel.run(rounds));
  return {.name = std::string(kernel.name),
          .work =
              [run = kernel.run, rounds, &pool] {
                pool.parallel_for(pool.thread_count(),
                                  [&](int64_t, int64_t) { (void)run(rounds); });
              },
          .operations = 2 * per_thread * static_cast<double>(pool.thread_count())};
}

}  // namespace driftless::bench
