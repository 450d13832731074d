// SPDX-License-Identifier: Apache-2.0
// A fixed number of threads that share the indices of one loop at a time. Starting a loop allocates
// nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace driftless {

class ThreadPool {
 public:
  static constexpr int64_t kMostThreads = 1024;

  /// `threads` counts the calling thread; throws InvalidArgument unless it is 1 to kMostThreads,
  /// Unsupported where the system starts no more of them.
  explicit ThreadPool(int64_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int64_t thread_count() const { return std::ssize(threads_) + 1; }

  /// Calls body(index, worker) once for each index in [0, count), in any order; worker is the
  /// calling thread's number below thread_count(). Returns when all calls are over. The first
  /// exception is rethrown here, after indices that had not started are dropped. One loop at a
  /// time: not to be called from inside a body or from two threads.
  template <class Body>
  void parallel_for(int64_t count, const Body& body) {
    run(count, &body, [](const void* erased, int64_t index, int64_t worker) {
      (*static_cast<const Body*>(erased))(index, worker);
    });
  }

 private:
  using Call = void (*)(const void* body, int64_t index, int64_t worker);

  void run(int64_t count, const void* body, Call call);
  void serve(int64_t worker);
  void take_indices(int64_t worker);
  void stop();

  // The loop in progress. Workers read it between entering (busy_workers_) and leaving, and only if
  // is_open_ after they entered; it changes only while closed and without busy workers. So a worker
  // that wakes late holds nobody up.
  const void* body_ = nullptr;
  Call call_ = nullptr;
  int64_t count_ = 0;
  std::atomic<bool> is_open_{false};
  std::atomic<int64_t> busy_workers_{0};

  std::atomic<int64_t> next_index_{0};
  std::atomic<uint64_t> generation_{0};  // moves when there is a loop to join or the end to come
  std::atomic<bool> is_stopping_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace driftless
