// SPDX-License-Identifier: Apache-2.0
// The inner loops of quantization, once per instruction set. Every set gives the same bits as the
// scalar one, which calls the scalar truth in formats/ and quant/scale/scale.h value by value.
//
// Kernels do not validate and do not allocate. Where values may be NaN or infinite they say where
// they stopped; x and out may be the same array but must not overlap otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/formats/block.h"
#include "driftless/formats/scale_format.h"
#include "driftless/quant/scale/scale.h"

namespace driftless::quant {

/// A row of n values, cut into runs of `group` that share a scale; the last may be shorter.
struct Groups {
  int64_t n;
  int64_t group;
  formats::ScaleRule rule{};  ///< of fake_groups, for symmetric formats
};

/// How integers become bytes: in two's complement, plus `offset`, modulo 256.
struct IntegerBytes {
  float scale;
  uint8_t offset;
};

/// What the kernels that look for NaN and infinity return when there is none.
inline constexpr int64_t kAllFinite = -1;

struct KernelSet {
  std::string_view name;

  /// The bits of the largest |x|; at or above formats::kFloatInfinityBits if any x is not finite.
  uint32_t (*absmax_bits)(const float* x, int64_t n) noexcept;
  /// The extent of finite values, zero included.
  Extent (*extent)(const float* x, int64_t n) noexcept;

  /// out = decode(encode(x)) under one float scale.
  void (*fake_scaled)(const formats::Element& element, const Scale& scale, const float* x,
                      int64_t n, float* out) noexcept;
  /// The same with a scale from the absmax (or extent) of each group. Returns the first group that
  /// holds a non-finite value, or kAllFinite.
  int64_t (*fake_groups)(const formats::Element& element, const float* x, Groups groups,
                         float* out) noexcept;
  /// The same with the shared exponent of each block, whose e8m0 code goes to `scales` unless that
  /// is null.
  int64_t (*fake_blocks)(const formats::BlockScaling& scaling, const float* x, Groups groups,
                         float* out, uint8_t* scales) noexcept;

  /// formats::scaled_squared_error.
  uint32_t (*squared_error)(const formats::Element& element, std::span<const float> run,
                            float scale, float unit) noexcept;

  /// One code a byte, and one e8m0 code a block. Returns as fake_blocks.
  int64_t (*encode_blocks)(const formats::BlockScaling& scaling, const float* x, Groups groups,
                           uint8_t* codes, uint8_t* scales) noexcept;
  /// The integers encode(x / scale) of a symmetric integer format of at most 8 bits, one a byte.
  void (*encode_integers)(const formats::Element& element, const float* x, int64_t n,
                          IntegerBytes form, uint8_t* bytes) noexcept;
  /// n codes of 4 bits to (n + 1) / 2 bytes, the even one in the low half; and back.
  void (*pack4)(const uint8_t* codes, int64_t n, uint8_t* packed) noexcept;
  void (*unpack4)(const uint8_t* packed, int64_t n, uint8_t* codes) noexcept;
};

/// The sets this build has and this processor can run, best first; the scalar one is always last.
std::span<const KernelSet* const> available_kernels() noexcept;

/// The set in use: the best one that DRIFTLESS_ISA allows (base/isa.h). Throws as isa_limit().
const KernelSet& kernels();

extern const KernelSet kScalarKernels;

}  // namespace driftless::quant
