// SPDX-License-Identifier: Apache-2.0
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driftless/engine/kernels/isa/sets.h"

namespace driftless::engine {
namespace {

/// AVX-512, which packs; __builtin_cpu_supports also asks the operating system.
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/// AMX and the conversions to bfloat16 that its packing needs.
bool has_bf16_tiles() {
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24, kAvx512Bf16 = 1u << 5;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kAmxBf16) == 0 || (edx & kAmxTile) == 0) return false;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvx512Bf16) != 0;
}

/// Linux gives tiles to a process that asks; without the permission their instructions are illegal.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

const TileKernels* tile_kernels() {
  static const bool is_available = has_avx512() && has_bf16_tiles() && may_use_tiles();
  return is_available ? &kAmxTiles : nullptr;
}

}  // namespace driftless::engine
