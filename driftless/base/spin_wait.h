// SPDX-License-Identifier: Apache-2.0
// Waiting for another thread that is about to be done.
#pragma once

#include <atomic>

namespace driftless {

/// Returns when `value` is no longer `old`. Waking a sleeping thread takes tens of microseconds, as
/// long as a short loop, so it looks for about that long before it sleeps: until notified.
template <class Value>
void wait_for_change(const std::atomic<Value>& value, Value old) {
  constexpr int kLooks = 50000;
  for (int look = 0; look < kLooks; ++look)
    if (value.load() != old) return;
  value.wait(old);
}

}  // namespace driftless
