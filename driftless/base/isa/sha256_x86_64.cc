// SPDX-License-Identifier: Apache-2.0
// The SHA extensions: two rounds an instruction, the words of four rounds a vector.
#include <cpuid.h>
#include <immintrin.h>

#include "driftless/base/isa.h"
#include "driftless/base/sha256_blocks.h"

namespace driftless {
namespace {

/// The instructions want the state as A B E F and C D G H, first letter in the highest lane.
[[gnu::target("sha,sse4.1")]] void digest_blocks(std::array<uint32_t, 8>& state,
                                                 const std::byte* blocks, size_t count) noexcept {
  const __m128i swap = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
  auto* const words = reinterpret_cast<__m128i*>(state.data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i w[4];
    for (size_t i = 0; i < 16; ++i) {
      if (i < 4) {
        const auto* const at = reinterpret_cast<const __m128i*>(blocks) + i;
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128(at), swap);
      } else {
        const __m128i last = w[(i + 3) % 4];
        const __m128i seventh = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]), seventh);
        w[i % 4] = _mm_sha256msg2_epu32(sum, last);
      }
      const auto* const round = reinterpret_cast<const __m128i*>(kSha256Rounds.data()) + i;
      const __m128i four = _mm_add_epi32(w[i % 4], _mm_loadu_si128(round));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, four);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(four, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

bool has_sha() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (ebx & (1u << 29)) != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

}  // namespace

DigestBlocks fast_digest_blocks() noexcept {
  return has_sha() && wanted_isa() != "scalar" ? digest_blocks : nullptr;
}

}  // namespace driftless
