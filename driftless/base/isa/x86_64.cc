// SPDX-License-Identifier: Apache-2.0
// __builtin_cpu_supports asks CPUID and, for AVX state, the operating system; some compilers' does
// not know the newer names.
#include <array>

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driftless/base/isa.h"

namespace driftless {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// CPUID leaf 7; zeros where the processor has no such leaf.
Registers leaf_7(unsigned subleaf) noexcept {
  Registers r;
  if (__get_cpuid_count(7, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
bool has_avx_vnni() noexcept { return (leaf_7(1).eax & (1u << 4)) != 0; }
bool has_avx512() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
bool has_avx512_vnni() noexcept { return __builtin_cpu_supports("avx512vnni") != 0; }
bool has_avx512_bf16() noexcept { return (leaf_7(1).eax & (1u << 5)) != 0; }

/// Tiles of bfloat16 and of bytes. Linux gives them to a process that asks; without the permission
/// their instructions are illegal.
bool has_amx() noexcept {
  constexpr unsigned kAmx = 1u << 22 | 1u << 24 | 1u << 25;  // bf16, tiles, int8
  constexpr long kRequestPermission = 0x1023;                // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;                             // XFEATURE_XTILEDATA
  return (leaf_7(0).edx & kAmx) == kAmx &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

constexpr std::array kIsas = {
    Isa{"amx", "avx512bf16", has_amx},
    Isa{"avx512bf16", "avx512vnni", has_avx512_bf16},
    Isa{"avx512vnni", "avx512", has_avx512_vnni},
    Isa{"avx512", "avx2", has_avx512},
    Isa{"avxvnni", "avx2", has_avx_vnni},
    Isa{"avx2", "scalar", has_avx2},
    Isa{"scalar", "", []() noexcept { return true; }},
};

}  // namespace

std::span<const Isa> isas() noexcept { return kIsas; }

}  // namespace driftless
