// SPDX-License-Identifier: Apache-2.0
// The way of one board through the stages of a step, shared by threads that stay together for all
// of it: they are woken once a step, and go on to the next stage when the last part of a stage is
// over. Each thread has its own share of a stage's parts, the same in every step. What a late
// thread has not begun by the time another is done with its share, that one takes: a thread that
// the system keeps from running holds nobody up for longer than the part it is in.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "driftless/base/spin_wait.h"

namespace driftless::loop {

class Relay {
 public:
  /// How many parts each stage has, in order.
  explicit Relay(std::span<const int64_t> parts) {
    size_t first = 0;
    legs_ = std::vector<Leg>(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      legs_[i].parts = parts[i];
      legs_[i].first = first;
      first += static_cast<size_t>(parts[i]);
    }
    taken_ = std::vector<std::atomic<bool>>(first);
  }

  /// Before the threads of a step begin.
  void start() noexcept {
    has_failed_ = false;
    for (Leg& leg : legs_) leg.done = 0;
    for (auto& taken : taken_) taken = false;
  }

  /// What thread number `worker` of `workers` does, any number of times a step: calls
  /// run(stage, part) for parts that no other thread has taken, until all stages are over. What run
  /// throws ends the step for all threads and leaves here on one of them.
  template <class Run>
  void work(int64_t worker, int64_t workers, const Run& run) {
    try {
      for (size_t stage = 0; stage < legs_.size() && !has_failed_; ++stage)
        run_stage(stage, worker, workers, run);
    } catch (...) {
      has_failed_ = true;
      for (Leg& leg : legs_) add(leg, kFailed);
      throw;
    }
  }

 private:
  static constexpr int64_t kFailed = int64_t{1} << 32;  // more than any stage has parts

  /// On cache lines of their own: other threads wait for one while the next is counted.
  struct alignas(64) Leg {
    std::atomic<int64_t> done{0};
    int64_t parts = 0;
    size_t first = 0;  // of its parts in taken_
  };

  static void add(Leg& leg, int64_t count) noexcept {
    if (leg.done.fetch_add(count) + count >= leg.parts) leg.done.notify_all();
  }

  template <class Run>
  void run_stage(size_t stage, int64_t worker, int64_t workers, const Run& run) {
    Leg& leg = legs_[stage];
    const int64_t own = leg.parts * worker / workers;
    for (int64_t i = 0; i < leg.parts && !has_failed_; ++i) {
      const int64_t part = (own + i) % leg.parts;
      std::atomic<bool>& taken = taken_[leg.first + static_cast<size_t>(part)];
      if (taken.load(std::memory_order_relaxed) || taken.exchange(true)) continue;
      run(stage, part);
      add(leg, 1);
    }
    for (int64_t done = leg.done; done < leg.parts; done = leg.done)
      wait_for_change(leg.done, done);
  }

  std::vector<Leg> legs_;
  std::vector<std::atomic<bool>> taken_;
  std::atomic<bool> has_failed_{false};
};

}  // namespace driftless::loop
