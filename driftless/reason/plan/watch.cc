// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/plan/watch.h"

#include <algorithm>
#include <mutex>

#include "driftless/base/thread_pool.h"
#include "driftless/reason/run.h"

namespace driftless::reason {

void watch(const Watched& watched, std::span<StepObserver* const> observers, int64_t threads,
           const OnBoard& on_board) {
  const int64_t parts = std::ssize(observers);
  const int64_t count = std::ssize(watched.boards);
  std::mutex counting;
  int64_t done = 0;
  ThreadPool(std::clamp<int64_t>(threads, 1, parts))
      .parallel_for(parts, [&](int64_t part, int64_t) {
        const auto begin = static_cast<size_t>(part * count / parts);
        const auto end = static_cast<size_t>((part + 1) * count / parts);
        const std::unique_ptr<Reasoner> reasoner = watched.make(watched.plan);
        run(*reasoner, watched.boards.subspan(begin, end - begin),
            {.halting = find_halting(watched.halting),
             .max_steps = reasoner->config().halt_max_steps,
             .observer = observers[static_cast<size_t>(part)]},
            [&](int64_t, const Answer&) {
              const std::lock_guard lock(counting);
              ++done;
              if (on_board) on_board(done);
            });
      });
}

}  // namespace driftless::reason
