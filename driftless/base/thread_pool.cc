// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/thread_pool.h"

#include <system_error>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/spin_wait.h"

namespace driftless {

ThreadPool::ThreadPool(int64_t threads) {
  DRIFTLESS_REQUIRE(threads >= 1 && threads <= kMostThreads, ErrorCode::InvalidArgument,
                    "threads; got ", threads, ", expected 1 to ", kMostThreads);
  threads_.reserve(static_cast<size_t>(threads - 1));
  try {
    for (int64_t worker = 1; worker < threads; ++worker)
      threads_.emplace_back([this, worker] { serve(worker); });
  } catch (const std::system_error& error) {
    stop();
    fail(ErrorCode::Unsupported, "threads: the system starts no more of them; got ", thread_count(),
         ", expected ", threads, "; ask for fewer (", error.code().message(), ")");
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  is_stopping_ = true;
  ++generation_;
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(int64_t count, const void* body, Call call) {
  body_ = body;
  call_ = call;
  count_ = count;
  next_index_ = 0;
  is_open_ = true;
  ++generation_;
  generation_.notify_all();
  take_indices(0);
  is_open_ = false;
  while (const int64_t busy = busy_workers_) wait_for_change(busy_workers_, busy);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::serve(int64_t worker) {
  for (uint64_t seen = 0;;) {
    wait_for_change(generation_, seen);
    seen = generation_;
    if (is_stopping_) return;
    ++busy_workers_;
    if (is_open_) take_indices(worker);
    --busy_workers_;
    busy_workers_.notify_one();
  }
}

void ThreadPool::take_indices(int64_t worker) {
  try {
    for (;;) {
      const int64_t index = next_index_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      call_(body_, index, worker);
    }
  } catch (...) {
    next_index_.store(count_, std::memory_order_relaxed);
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace driftless
