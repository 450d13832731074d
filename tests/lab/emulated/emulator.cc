// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <memory>
#include <vector>

#include <ucontext.h>

#include "tests/lab/emulated/cuda_runtime.h"

namespace driftless::lab::cuda::emulated {
namespace {

constexpr unsigned kWarp = 32;
constexpr size_t kStack = size_t{64} << 10;

/// Threads that wait for each other. Those that have ended are waited for no more.
struct Barrier {
  unsigned expected = 0;
  unsigned arrived = 0;
  uint64_t turn = 0;

  void open_if_full() {
    if (arrived < expected) return;
    arrived = 0;
    ++turn;
  }
};

struct Warp {
  Barrier barrier{};
  unsigned char deposits[kWarp][kDeposit] = {};
};

/// Started by a context of its own; from then on switched to by jumps, which spare system calls.
struct Thread {
  ucontext_t start{};
  std::jmp_buf place{};
  std::vector<char> stack = std::vector<char>(kStack);
  bool has_started = false;
  bool has_ended = false;
};

/// The block that runs now.
struct Block {
  const std::function<void()>* kernel = nullptr;
  std::vector<Thread> threads{};
  std::vector<Warp> warps{};
  Barrier barrier{};
  std::jmp_buf scheduler{};
};
std::unique_ptr<Block> block;

Warp& warp() { return block->warps[threadIdx.x / kWarp]; }

void yield() {
  const unsigned index = threadIdx.x;
  if (_setjmp(block->threads[index].place) == 0) _longjmp(block->scheduler, 1);
  threadIdx.x = index;
}

void resume(unsigned index) {
  Thread& thread = block->threads[index];
  threadIdx.x = index;
  if (_setjmp(block->scheduler) != 0) return;
  if (thread.has_started) _longjmp(thread.place, 1);
  thread.has_started = true;
  setcontext(&thread.start);
}

void wait_at(Barrier& barrier) {
  const uint64_t turn = barrier.turn;
  ++barrier.arrived;
  barrier.open_if_full();
  while (barrier.turn == turn) yield();
}

void leave(Barrier& barrier) {
  --barrier.expected;
  if (barrier.expected > 0) barrier.open_if_full();
}

void thread_body() {
  (*block->kernel)();
  block->threads[threadIdx.x].has_ended = true;
  leave(warp().barrier);
  leave(block->barrier);
  _longjmp(block->scheduler, 1);
}

void prepare(unsigned threads) {
  block->warps.assign(threads / kWarp, {});
  for (Warp& each : block->warps) each.barrier.expected = kWarp;
  block->barrier = {.expected = threads};
  for (Thread& thread : block->threads) {
    thread.has_started = thread.has_ended = false;
    getcontext(&thread.start);
    thread.start.uc_stack.ss_sp = thread.stack.data();
    thread.start.uc_stack.ss_size = thread.stack.size();
    makecontext(&thread.start, thread_body, 0);
  }
}

void run_block() {
  for (bool is_busy = true; is_busy;) {
    is_busy = false;
    for (unsigned i = 0; i < block->threads.size(); ++i) {
      if (block->threads[i].has_ended) continue;
      resume(i);
      is_busy = true;
    }
  }
}

}  // namespace

void run(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  block = std::make_unique<Block>();
  block->kernel = &kernel;
  block->threads = std::vector<Thread>(threads);
  for (unsigned index = 0; index < blocks; ++index) {
    blockIdx.x = index;
    prepare(threads);
    run_block();
  }
  block.reset();
}

void sync_block() { wait_at(block->barrier); }
void sync_warp() { wait_at(warp().barrier); }
unsigned char* deposit_of(unsigned lane) { return warp().deposits[lane]; }

// Lane l holds the bytes 4 (l % 4) to 4 (l % 4) + 3 of each half of its rows.
void multiply_add(int32_t (&sums)[2][2], const uint32_t (&left)[2][2], const uint32_t (&right)[2]) {
  struct Bytes {
    int8_t left[2][8];
    int8_t right[8];
  };
  static_assert(sizeof(Bytes) <= kDeposit && sizeof(left) + sizeof(right) == sizeof(Bytes));
  const unsigned lane = threadIdx.x % kWarp;
  __builtin_memcpy(deposit_of(lane), left, sizeof(left));
  __builtin_memcpy(deposit_of(lane) + sizeof(left), right, sizeof(right));
  sync_warp();
  for (unsigned part = 0; part < 4; ++part) {
    Bytes rows{}, columns[2]{};
    __builtin_memcpy(&rows, deposit_of(lane / 4 * 4 + part), sizeof(rows));
    for (unsigned column = 0; column < 2; ++column)
      __builtin_memcpy(&columns[column], deposit_of((lane % 4 * 2 + column) * 4 + part),
                       sizeof(rows));
    for (int row = 0; row < 2; ++row)
      for (int column = 0; column < 2; ++column)
        for (int k = 0; k < 8; ++k)
          sums[row][column] += rows.left[row][k] * columns[column].right[k];
  }
  sync_warp();
}

}  // namespace driftless::lab::cuda::emulated
