// SPDX-License-Identifier: Apache-2.0
// Matrix products of a Hopper warpgroup (four warps): 64 rows times N columns over 16 terms of the
// sum, bfloat16 operands, float32 sums in registers. Warp w of the four holds rows 16 w to
// 16 w + 15 of the sums: sums[4 g + i] of a lane are columns 8 g + 2 (lane % 4) + i % 2 of row
// 16 w + lane / 4 + 8 (i / 2). A first operand in registers has the same layout, packed in pairs.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>

#include "driftless/lab/cuda/hopper/async.cuh"

namespace driftless::lab::cuda {

/// How a tile lies: rows along the sum's index (Sum: the index runs along a row of 128 bytes) or
/// across it (the operand's rows or columns run along a row).
enum class Along { Sum = 0, Outer = 1 };

/// Describes a tile to the matrix units. Groups of 8 tile rows are 1024 bytes apart; with
/// Along::Outer, `next` is the distance in bytes to the tile of the next 64 rows or columns.
__device__ inline uint64_t describe(uint32_t tile, uint32_t next = 16) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kRowGroup = uint64_t{1024 >> 4} << 32;
  return kSwizzle128 | kRowGroup | (static_cast<uint64_t>(next >> 4) << 16) |
         ((tile & 0x3ffff) >> 4);
}

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
/// Keeps the compiler from reading sums before the wait, or reusing operands' registers.
template <int kCount>
__device__ void settle(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}
template <int kCount>
__device__ void settle(uint32_t (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(values[i])::"memory");
}

/// sums = a b, or sums += a b if `adds` is nonzero.
template <int kColumns>
struct Product;

// Operand names of ten registers from 10 t on, and the registers themselves.
#define DRIFTLESS_TEN(t) \
  "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define DRIFTLESS_FOUR_SUMS(i) \
  "+f"(sums[i]), "+f"(sums[(i) + 1]), "+f"(sums[(i) + 2]), "+f"(sums[(i) + 3])
#define DRIFTLESS_16_SUMS(i)                                                          \
  DRIFTLESS_FOUR_SUMS(i), DRIFTLESS_FOUR_SUMS((i) + 4), DRIFTLESS_FOUR_SUMS((i) + 8), \
      DRIFTLESS_FOUR_SUMS((i) + 12)

// NAMES and SUMS list the columns / 2 sums; p0 to p6 are the operands that follow them.
#define DRIFTLESS_PRODUCT(columns, NAMES, p0, p1, p2, p3, p4, p5, p6, ...)                     \
  template <>                                                                                  \
  struct Product<columns> {                                                                    \
    template <Along kA, Along kB>                                                              \
    __device__ static void add(float (&sums)[columns / 2], uint64_t a, uint64_t b, int adds) { \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p2                                    \
                   ", 0;\n"                                                                    \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" NAMES    \
                   "}, %" #p0 ", %" #p1 ", p, 1, 1, %" #p3 ", %" #p4 ";\n}"                    \
                   : __VA_ARGS__                                                               \
                   : "l"(a), "l"(b), "r"(adds), "n"(static_cast<int>(kA)),                     \
                     "n"(static_cast<int>(kB)));                                               \
    }                                                                                          \
    template <Along kB>                                                                        \
    __device__ static void add(float (&sums)[columns / 2], const uint32_t* a, uint64_t b,      \
                               int adds) {                                                     \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p5                                    \
                   ", 0;\n"                                                                    \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" NAMES    \
                   "}, {%" #p0 ",%" #p1 ",%" #p2 ",%" #p3 "}, %" #p4 ", p, 1, 1, %" #p6 ";\n}" \
                   : __VA_ARGS__                                                               \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds),            \
                     "n"(static_cast<int>(kB)));                                               \
    }                                                                                          \
  }

DRIFTLESS_PRODUCT(32, DRIFTLESS_TEN() "%10,%11,%12,%13,%14,%15", 16, 17, 18, 19, 20, 21, 22,
                  DRIFTLESS_16_SUMS(0));
DRIFTLESS_PRODUCT(64, DRIFTLESS_TEN() DRIFTLESS_TEN(1) DRIFTLESS_TEN(2) "%30,%31", 32, 33, 34, 35,
                  36, 37, 38, DRIFTLESS_16_SUMS(0), DRIFTLESS_16_SUMS(16));
DRIFTLESS_PRODUCT(88,
                  DRIFTLESS_TEN() DRIFTLESS_TEN(1) DRIFTLESS_TEN(2)
                      DRIFTLESS_TEN(3) "%40,%41,%42,%43",
                  44, 45, 46, 47, 48, 49, 50, DRIFTLESS_16_SUMS(0), DRIFTLESS_16_SUMS(16),
                  DRIFTLESS_FOUR_SUMS(32), DRIFTLESS_FOUR_SUMS(36), DRIFTLESS_FOUR_SUMS(40));
DRIFTLESS_PRODUCT(104,
                  DRIFTLESS_TEN() DRIFTLESS_TEN(1) DRIFTLESS_TEN(2) DRIFTLESS_TEN(3)
                      DRIFTLESS_TEN(4) "%50,%51",
                  52, 53, 54, 55, 56, 57, 58, DRIFTLESS_16_SUMS(0), DRIFTLESS_16_SUMS(16),
                  DRIFTLESS_16_SUMS(32), DRIFTLESS_FOUR_SUMS(48));
DRIFTLESS_PRODUCT(128,
                  DRIFTLESS_TEN() DRIFTLESS_TEN(1) DRIFTLESS_TEN(2) DRIFTLESS_TEN(3)
                      DRIFTLESS_TEN(4) DRIFTLESS_TEN(5) "%60,%61,%62,%63",
                  64, 65, 66, 67, 68, 69, 70, DRIFTLESS_16_SUMS(0), DRIFTLESS_16_SUMS(16),
                  DRIFTLESS_16_SUMS(32), DRIFTLESS_16_SUMS(48));
DRIFTLESS_PRODUCT(256,
                  DRIFTLESS_TEN() DRIFTLESS_TEN(1) DRIFTLESS_TEN(2) DRIFTLESS_TEN(3)
                      DRIFTLESS_TEN(4) DRIFTLESS_TEN(5) DRIFTLESS_TEN(6) DRIFTLESS_TEN(7)
                          DRIFTLESS_TEN(8) DRIFTLESS_TEN(9) DRIFTLESS_TEN(10)
                              DRIFTLESS_TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127",
                  128, 129, 130, 131, 132, 133, 134, DRIFTLESS_16_SUMS(0), DRIFTLESS_16_SUMS(16),
                  DRIFTLESS_16_SUMS(32), DRIFTLESS_16_SUMS(48), DRIFTLESS_16_SUMS(64),
                  DRIFTLESS_16_SUMS(80), DRIFTLESS_16_SUMS(96), DRIFTLESS_16_SUMS(112));

#undef DRIFTLESS_PRODUCT
#undef DRIFTLESS_16_SUMS
#undef DRIFTLESS_FOUR_SUMS
#undef DRIFTLESS_TEN

/// Two values rounded to bfloat16, the first in the low half; and back.
__device__ inline uint32_t pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  uint32_t bits;
  memcpy(&bits, &pair, sizeof(bits));
  return bits;
}
__device__ inline float low_of(uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_of(uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

/// 1 / (1 + e^-x) in four instructions, two units of the last float32 place off at most; below
/// -87 it is 0.
__device__ inline float quick_sigmoid(float x) {
  constexpr float kMinusLog2E = -1.4426950408889634f;
  float power;
  float quotient;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * kMinusLog2E));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(quotient) : "f"(1.0f + power));
  return quotient;
}

/// silu(gate) * up
__device__ inline float quick_swiglu(float gate, float up) {
  return gate * quick_sigmoid(gate) * up;
}

/// A pair of gates and ups, rounded to bfloat16 as a product of its own leaves them, to a pair of
/// rounded silu(gate) * up.
__device__ inline uint32_t swiglu_pair(float gate0, float gate1, float up0, float up1) {
  const uint32_t gates = pack(gate0, gate1);
  const uint32_t ups = pack(up0, up1);
  return pack(quick_swiglu(low_of(gates), low_of(ups)), quick_swiglu(high_of(gates), high_of(ups)));
}

/// A pair of act, and the gradients of its gates and ups, from gates, ups and gradients of act that
/// are rounded to bfloat16.
struct SwigluPair {
  uint32_t act;
  uint32_t d_gate;
  uint32_t d_up;
};
__device__ inline SwigluPair swiglu_gradient_pair(uint32_t gates, uint32_t ups, uint32_t d_acts) {
  float act[2];
  float d_gate[2];
  float d_up[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float gate = i == 0 ? low_of(gates) : high_of(gates);
    const float up = i == 0 ? low_of(ups) : high_of(ups);
    const float d = i == 0 ? low_of(d_acts) : high_of(d_acts);
    const float s = quick_sigmoid(gate);
    const float silu = gate * s;
    act[i] = silu * up;
    d_gate[i] = d * up * __fmaf_rn(silu, 1.0f - s, s);  // silu' = s + silu (1 - s)
    d_up[i] = d * silu;
  }
  return {pack(act[0], act[1]), pack(d_gate[0], d_gate[1]), pack(d_up[0], d_up[1])};
}

/// A pair of state + update, the update and the sum rounded to bfloat16; adds their squares.
__device__ inline uint32_t residual_pair(uint32_t state, float update0, float update1,
                                         float& squares) {
  const uint32_t update = pack(update0, update1);
  const uint32_t sum = pack(low_of(state) + low_of(update), high_of(state) + high_of(update));
  squares += low_of(sum) * low_of(sum) + high_of(sum) * high_of(sum);
  return sum;
}
__device__ inline uint32_t scaled_pair(uint32_t sum, float scale) {
  return pack(low_of(sum) * scale, high_of(sum) * scale);
}

}  // namespace driftless::lab::cuda
