// SPDX-License-Identifier: Apache-2.0
// A thread kept to one processor while it is measured.
#pragma once

#include <cstdint>

#include <sched.h>

namespace driftless::bench {

/// Keeps the calling thread to the `index`-th processor that it may run on, counted around, as long
/// as it lives. Does nothing where the system does not let it.
class Pinned {
 public:
  explicit Pinned(int64_t index) noexcept;
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_;
  bool is_pinned_ = false;
};

}  // namespace driftless::bench
