// SPDX-License-Identifier: Apache-2.0
// The float arithmetic that CPU backends share: what happens between two products of linear layers,
// fused into one pass each, and the small products that stay in float. The same source is compiled
// for every instruction set (isa/) and gives the same bits on each of them: the compiler contracts
// nothing, the exponential fuses where its code says so (through the C library where a processor
// cannot), and every sum has a fixed order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace driftless::loop {

/// c = a b with a [m, k], b [k, n], c [m, n]; strides are between rows. Each sum runs over k in
/// order, so that every set gives the same bits.
struct FloatProductArgs {
  const float* a;
  int64_t a_stride;
  const float* b;
  int64_t b_stride;
  float* c;
  int64_t c_stride;
  int64_t m, k, n;
};

/// log2(e), which share_codes' scale has as a factor where shares are those of e^x.
inline constexpr float kLog2E = 1.44269504f;

struct EpilogueSet {
  std::string_view name;

  /// h[i] += a[i].
  void (*add)(float* h, const float* a, int64_t count) noexcept;

  /// h[i] += a[i] + b[i], the latter sum first.
  void (*add_sum)(float* h, const float* a, const float* b, int64_t count) noexcept;

  /// out[i] = a[i] - b[i].
  void (*subtract)(const float* a, const float* b, float* out, int64_t count) noexcept;

  /// sums[i] += values[i]; values[i] = sums[i].
  void (*add_up)(float* sums, float* values, int64_t count) noexcept;

  /// sums[i] += scale * (bytes[i] XOR flip), a signed byte; the product is rounded first.
  void (*add_bytes)(float* sums, const uint8_t* bytes, int64_t count, uint8_t flip,
                    float scale) noexcept;

  /// out[i] = silu(gate[i]) * up[i].
  void (*silu_mul)(const float* gate, const float* up, float* out, int64_t count) noexcept;

  /// sum[i] = h[i] + y[i]; h[i] = sum[i] / sqrt(mean(sum^2) + eps).
  void (*add_norm)(float* h, const float* y, int64_t count, float eps) noexcept;

  /// The same down each column: h is [rows, columns] with h_stride between rows, y is dense.
  void (*add_norm_columns)(float* h, int64_t h_stride, const float* y, int64_t rows,
                           int64_t columns, float eps) noexcept;

  /// values[i] = exp(scale * values[i] - max) / sum, max being the largest scaled value. Requires
  /// scale > 0. Where a scaled value is not finite, the whole row is NaN.
  void (*softmax)(float* values, int64_t count, float scale) noexcept;

  /// Softmax in integers, base 2: share i is codes[i] / sum, with codes[i] = 255 * 2^(scale *
  /// scores[i] - max), rounded, the largest 255, and `sum` their sum, which is returned; all are 0
  /// where a scaled score is not finite. Bytes are stored XORed with `flip`. Requires scale > 0.
  int32_t (*share_codes)(const float* scores, int64_t count, float scale, uint8_t flip,
                         uint8_t* codes) noexcept;

  /// For the small products that stay in float where layers are integers: attention and heads.
  /// Multiply and add are fused.
  void (*multiply)(const FloatProductArgs& args) noexcept;

  /// The same, each product rounded before it is added: no slower where nothing fuses the two, and
  /// the same bits on every set again.
  void (*multiply_rounded)(const FloatProductArgs& args) noexcept;

  /// out[i] = the bits of the bfloat16 nearest to values[i], ties to even. Requires finite values.
  void (*to_bf16)(const float* values, uint16_t* out, int64_t count) noexcept;
};

/// The sets this processor can run, best first; the portable one is always last.
std::span<const EpilogueSet* const> available_epilogues();

/// The set in use: the best one that DRIFTLESS_ISA allows (base/isa.h). Throws as isa_limit().
const EpilogueSet& epilogues();

}  // namespace driftless::loop
