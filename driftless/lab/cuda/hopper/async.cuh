// SPDX-License-Identifier: Apache-2.0
// What a Hopper multiprocessor does beside its threads: copies of tensor tiles between device and
// shared memory, and the barriers in shared memory that count their bytes. Tiles have rows of 128
// bytes; the 16-byte piece i of row r lies at piece i ^ (r % 8), which keeps columns of pieces out
// of each other's banks. Tiles start at multiples of 1024 bytes.
#pragma once

#include <cstdint>

#include <cuda.h>
#include <cuda_runtime.h>

namespace driftless::lab::cuda {

constexpr int kTileRowBytes = 128;
constexpr int kTileColumns = 64;  ///< bfloat16 in a row of a tile
constexpr int kTileAlignment = 1024;

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Where the 16-byte piece of a row lies in a tile.
__device__ inline uint32_t piece_address(uint32_t tile, int row, int piece) {
  return tile + row * kTileRowBytes + ((piece ^ (row & 7)) << 4);
}

/// Moves registers between warpgroups: each then has that many a thread.
template <int kRegisters>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

using Barrier = uint64_t;

__device__ inline void init_barrier(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

/// Makes initialized barriers visible to copies and to the other blocks of the cluster.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Arrives, and the phase ends only after that many bytes more.
__device__ inline void arrive_expecting(Barrier* barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

/// The address of the same variable in another block of the cluster.
__device__ inline uint32_t address_in_block(const void* pointer, int rank) {
  uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(shared_address(pointer)), "r"(rank));
  return address;
}

__device__ inline void arrive_in_block(Barrier* barrier, int rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   address_in_block(barrier, rank))
               : "memory");
}

/// Waits for the end of the phase of that parity; the first has parity 0. Sees what this block's
/// threads and copies wrote before it, or with Scope::Cluster what others of the cluster sent.
enum class Scope { Block, Cluster };
template <Scope kScope = Scope::Block>
__device__ void wait(Barrier* barrier, uint32_t parity) {
  const uint32_t address = shared_address(barrier);
  uint32_t is_over = 0;
  do {
    if constexpr (kScope == Scope::Block)
      asm volatile(
          "{\n.reg .pred p;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(is_over)
          : "r"(address), "r"(parity)
          : "memory");
    else
      asm volatile(
          "{\n.reg .pred p;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(is_over)
          : "r"(address), "r"(parity)
          : "memory");
  } while (is_over == 0);
}

/// A place in a ring of stages, and the parity of the phase in which it is filled.
template <int kStages>
struct Turn {
  int stage = 0;
  uint32_t parity = 0;
  __device__ void next() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// Writes a value into another block's memory and counts its 4 bytes at that block's barrier.
__device__ inline void send(float value, const float* to, Barrier* barrier, int rank) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
          address_in_block(to, rank)),
      "r"(__float_as_uint(value)), "r"(address_in_block(barrier, rank))
      : "memory");
}

__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// Waits for all `threads` threads that name the same barrier (1 to 15).
__device__ inline void sync_threads(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void arrive_threads(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Copies the box at (x, y) to `to`; its bytes count at `barrier`. What lies outside the tensor is
/// zero and counts too.
__device__ inline void load_tile(const CUtensorMap& map, void* to, Barrier* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4}], [%2];" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
}
__device__ inline void load_tile(const CUtensorMap& map, void* to, Barrier* barrier, int x, int y,
                                 int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// The same to the same place in every block of the cluster that the mask names, each counting at
/// its own barrier.
__device__ inline void load_tile_to(uint16_t mask, const CUtensorMap& map, void* to,
                                    Barrier* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "h"(mask)
      : "memory");
}

/// Copies a tile to the box at (x, y), leaving out what lies outside the tensor.
__device__ inline void store_tile(const CUtensorMap& map, const void* from, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
      "r"(shared_address(from)), "r"(x), "r"(y)
      : "memory");
}
__device__ inline void store_tile(const CUtensorMap& map, const void* from, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
      "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Until this thread's stores have read their tiles.
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Shows this thread's writes to shared memory to copies and to matrix units.
__device__ inline void publish_writes() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// 8x8 matrices of bfloat16 between registers and rows of 16 bytes, whose addresses the lanes give:
/// eight lanes a matrix. A lane holds elements 2 (lane % 4) and the next of row lane / 4, or with
/// "transposed" of column lane / 4.
__device__ inline void load_matrices(uint32_t address, uint32_t (&r)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ inline void store_matrices(uint32_t address, const uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}
__device__ inline void load_transposed(uint32_t address, uint32_t (&r)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ inline void load_transposed(uint32_t address, uint32_t (&r)[2]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(address)
               : "memory");
}
__device__ inline void store_transposed(uint32_t address, const uint32_t (&r)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
      : "memory");
}
__device__ inline void store_transposed(uint32_t address, const uint32_t (&r)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address),
               "r"(r[0]), "r"(r[1])
               : "memory");
}

}  // namespace driftless::lab::cuda
