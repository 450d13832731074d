// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/pinned.h"

#include <cstddef>

namespace driftless::bench {

Pinned::Pinned(int64_t index) noexcept : before_() {
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
  const int64_t count = CPU_COUNT(&before_);
  int64_t left = count > 0 ? index % count : -1;
  for (size_t processor = 0; processor < CPU_SETSIZE && left >= 0; ++processor) {
    if (!CPU_ISSET(processor, &before_) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    is_pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
    return;
  }
}

Pinned::~Pinned() {
  if (is_pinned_) (void)sched_setaffinity(0, sizeof(before_), &before_);
}

}  // namespace driftless::bench
