// SPDX-License-Identifier: Apache-2.0
// The vector kernels, written once over a vector type V that each instruction set provides (see
// isa/). V and everything made from it live in that file's anonymous namespace, so no code compiled
// for one instruction set can end up in another's.
#pragma once

#include <cfloat>
#include <cstring>
#include <span>

#include "driftless/formats/float_bits.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/kernels/rounding.h"

namespace driftless::quant {

template <class V>
struct VectorKernels {
  using F = typename V::F;
  using I = typename V::I;
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr bool kHasMasks = requires(const float* p) { V::load_first(p, 1); };
  /// Whether the bytes of four vectors are cheaper stored at once.
  static constexpr bool kJoinsBytes = requires(uint8_t * p, I v) { V::store_bytes(p, v, v, v, v); };
  using Floats = float[static_cast<size_t>(V::kLanes)];
  using Bytes = uint8_t[static_cast<size_t>(V::kLanes)];

  /// Calls visit(vector) over x, the last one padded with zeros.
  template <class Visit>
  static void for_each(const float* x, int64_t n, Visit visit) noexcept {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) visit(V::load(x + i));
    if (i < n) visit(load_tail(x + i, n - i));
  }

  /// n values, fewer than lanes, and zeros. A copy in memory costs as much as a whole block, so
  /// that sets with masks have a way of their own.
  static F load_tail(const float* x, int64_t n) noexcept {
    if constexpr (kHasMasks) {
      return V::load_first(x, n);
    } else {
      Floats padded = {};
      std::memcpy(padded, x, static_cast<size_t>(n) * sizeof(float));
      return V::load(padded);
    }
  }

  static void store_tail(float* out, F v, int64_t n) noexcept {
    if constexpr (kHasMasks) {
      V::store_first(out, v, n);
    } else {
      Floats padded;
      V::store(padded, v);
      std::memcpy(out, padded, static_cast<size_t>(n) * sizeof(float));
    }
  }

  /// out = function(x), vector by vector.
  template <class Function>
  static void transform(const float* x, int64_t n, float* out, Function function) noexcept {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) V::store(out + i, function(V::load(x + i)));
    if (i < n) store_tail(out + i, function(load_tail(x + i, n - i)), n - i);
  }

  /// The same with one byte a value out.
  template <class Function>
  static void transform_bytes(const float* x, int64_t n, uint8_t* out, Function function) noexcept {
    int64_t i = 0;
    if constexpr (kJoinsBytes) {
      for (; i + 4 * kLanes <= n; i += 4 * kLanes)
        V::store_bytes(out + i, function(V::load(x + i)), function(V::load(x + i + kLanes)),
                       function(V::load(x + i + 2 * kLanes)),
                       function(V::load(x + i + 3 * kLanes)));
    }
    for (; i + kLanes <= n; i += kLanes) V::store_bytes(out + i, function(V::load(x + i)));
    if (i < n) {
      Bytes padded;
      V::store_bytes(padded, function(load_tail(x + i, n - i)));
      std::memcpy(out + i, padded, static_cast<size_t>(n - i));
    }
  }

  [[gnu::always_inline]] static uint32_t absmax_bits(const float* x, int64_t n) noexcept {
    const I magnitude = V::set_int(~formats::kFloatSignBit);
    I largest = V::set_int(0);
    for_each(x, n, [&](F v) { largest = V::int_max(largest, V::int_and(V::bits(v), magnitude)); });
    return V::reduce_max(largest);
  }

  static Extent extent(const float* x, int64_t n) noexcept {
    F low = V::set(0);
    F high = V::set(0);
    for_each(x, n, [&](F v) {
      low = V::min(low, v);
      high = V::max(high, v);
    });
    Floats lows;
    Floats highs;
    V::store(lows, low);
    V::store(highs, high);
    return {kScalarKernels.extent(lows, kLanes).low, kScalarKernels.extent(highs, kLanes).high};
  }

  static void fake_asymmetric(const formats::Element& element, const Scale& scale, const float* x,
                              int64_t n, float* out) noexcept {
    const UniformRounding<V> round(element, {-scale.zero, element.max - scale.zero});
    const F divisor = V::set(scale.scale);
    const F most = V::set(FLT_MAX);
    const F least = V::set(-FLT_MAX);
    transform(x, n, out, [&](F v) {
      return V::max(V::min(V::mul(round(V::div(v, divisor)), divisor), most), least);
    });
  }

  template <class Rounding>
  static void fake_symmetric(const Rounding& round, float scale, const float* x, int64_t n,
                             float* out) noexcept {
    const F divisor = V::set(scale);
    transform(x, n, out, [&](F v) { return V::mul(round(V::div(v, divisor)), divisor); });
  }

  static void fake_scaled(const formats::Element& element, const Scale& scale, const float* x,
                          int64_t n, float* out) noexcept {
    if (!is_vectorizable(element)) {
      kScalarKernels.fake_scaled(element, scale, x, n, out);
    } else if (is_asymmetric(element)) {
      fake_asymmetric(element, scale, x, n, out);
    } else if (is_uniform(element)) {
      fake_symmetric(UniformRounding<V>(element), scale.scale, x, n, out);
    } else {
      fake_symmetric(FloatRounding<V>(element), scale.scale, x, n, out);
    }
  }

  /// Calls visit(index, first, length, absmax) group by group until one is not finite. The usual
  /// length is a constant there, which turns loops over a group into straight code.
  template <class Visit>
  static int64_t for_each_group(const float* x, Groups groups, Visit visit) noexcept {
    constexpr int64_t kUsual = 32;
    for (int64_t first = 0, index = 0; first < groups.n; first += groups.group, ++index) {
      const int64_t rest = groups.n - first;
      const int64_t length = rest < groups.group ? rest : groups.group;
      const bool is_usual = length == kUsual;
      const uint32_t largest =
          is_usual ? absmax_bits(x + first, kUsual) : absmax_bits(x + first, length);
      if (largest >= formats::kFloatInfinityBits) return index;
      const auto absmax = std::bit_cast<float>(largest);
      if (is_usual)
        visit(index, first, kUsual, absmax);
      else
        visit(index, first, length, absmax);
    }
    return kAllFinite;
  }

  template <class Rounding>
  static int64_t fake_groups_rounded(const formats::Element& element, const Rounding& round,
                                     const float* x, Groups groups, float* out) noexcept {
    return for_each_group(x, groups, [&](int64_t, int64_t first, int64_t length, float absmax) {
      const Scale scale = symmetric_scale(element, absmax);
      float stored = stored_scale(groups.rule, scale.scale);
      if (groups.rule.format == formats::ScaleFormat::S4m3)
        stored *= stored_sign(groups.rule, extent(x + first, length));
      fake_symmetric(round, stored, x + first, length, out + first);
    });
  }

  static int64_t fake_groups(const formats::Element& element, const float* x, Groups groups,
                             float* out) noexcept {
    if (!is_vectorizable(element)) return kScalarKernels.fake_groups(element, x, groups, out);
    if (is_asymmetric(element)) {
      return for_each_group(x, groups, [&](int64_t, int64_t first, int64_t length, float) {
        const Scale scale = asymmetric_scale(element, extent(x + first, length));
        fake_asymmetric(element, scale, x + first, length, out + first);
      });
    }
    if (is_uniform(element)) {
      return fake_groups_rounded(element, UniformRounding<V>(element), x, groups, out);
    }
    return fake_groups_rounded(element, FloatRounding<V>(element), x, groups, out);
  }

  template <class Rounding>
  static uint32_t squared_error_rounded(const Rounding& round, std::span<const float> run,
                                        float scale, float unit) noexcept {
    const F divisor = V::set(scale);
    const F error_scale = V::set(scale * unit);
    I sum = V::set_int(0);
    for_each(run.data(), static_cast<int64_t>(run.size()), [&](F v) noexcept {
      const F scaled = V::div(v, divisor);
      const F error = V::mul(V::sub(scaled, round(scaled)), error_scale);
      sum = V::int_add(sum, V::to_int(V::mul(error, error)));
    });
    return V::reduce_add(sum);
  }

  static uint32_t squared_error(const formats::Element& element, std::span<const float> run,
                                float scale, float unit) noexcept {
    if (!is_vectorizable(element)) return kScalarKernels.squared_error(element, run, scale, unit);
    if (is_uniform(element)) {
      return squared_error_rounded(UniformRounding<V>(element), run, scale, unit);
    }
    return squared_error_rounded(FloatRounding<V>(element), run, scale, unit);
  }

  /// As formats::shared_exponent for a block whose largest magnitude is known.
  template <class Rounding>
  static int shared_exponent(const formats::BlockScaling& scaling, const Rounding& round,
                             const float* x, int64_t n, float absmax) noexcept {
    if (absmax == 0) return formats::E8m0fnu::kMinExponent;
    const int exponent = formats::threshold_exponent(scaling, absmax);
    if (scaling.rule != formats::ExponentRule::Mse) {
      return formats::limit_exponent(scaling.element, exponent);
    }
    return least_error_exponent(scaling.element, round, {x, static_cast<size_t>(n)}, exponent,
                                formats::octave_of(absmax).exponent);
  }

  /// As in formats/block.cc, with the three candidates side by side.
  template <class Rounding>
  static int least_error_exponent(const formats::Element& element, const Rounding& round,
                                  std::span<const float> block, int floor_exponent,
                                  int octave) noexcept {
    struct Candidate {
      int exponent;
      F inverse;
      F unit;
      I sum = V::set_int(0);
    };
    const auto candidate = [&](int exponent) noexcept {
      const int limited = formats::limit_exponent(element, exponent);
      const int unit = limited - octave + formats::kSquaredErrorBits / 2;
      return Candidate{limited, V::set(formats::power_of_two(-limited)),
                       V::set(formats::power_of_two(unit))};
    };
    Candidate candidates[] = {candidate(floor_exponent), candidate(floor_exponent + 1),
                              candidate(floor_exponent - 1)};
    for_each(block.data(), static_cast<int64_t>(block.size()), [&](F v) noexcept {
      for (Candidate& c : candidates) {
        const F scaled = V::mul(v, c.inverse);
        const F error = V::mul(V::sub(scaled, round(scaled)), c.unit);
        c.sum = V::int_add(c.sum, V::to_int(V::mul(error, error)));
      }
    });
    int best = candidates[0].exponent;
    uint32_t least = V::reduce_add(candidates[0].sum);
    for (const Candidate& c : {candidates[1], candidates[2]}) {
      const uint32_t error = V::reduce_add(c.sum);
      best = error < least ? c.exponent : best;
      least = error < least ? error : least;
    }
    return best;
  }

  template <class Rounding>
  static int64_t fake_blocks_rounded(const formats::BlockScaling& scaling, const Rounding& round,
                                     const float* x, Groups groups, float* out,
                                     uint8_t* scales) noexcept {
    return for_each_group(
        x, groups, [&](int64_t index, int64_t first, int64_t length, float absmax) {
          const int exponent = shared_exponent(scaling, round, x + first, length, absmax);
          if (scales != nullptr)
            scales[index] = static_cast<uint8_t>(exponent + formats::E8m0fnu::kBias);
          const F inverse = V::set(formats::power_of_two(-exponent));
          const F scale = V::set(formats::power_of_two(exponent));
          transform(x + first, length, out + first,
                    [&](F v) { return V::mul(round(V::mul(v, inverse)), scale); });
        });
  }

  static int64_t fake_blocks(const formats::BlockScaling& scaling, const float* x, Groups groups,
                             float* out, uint8_t* scales) noexcept {
    const formats::Element& element = scaling.element;
    if (!is_vectorizable(element))
      return kScalarKernels.fake_blocks(scaling, x, groups, out, scales);
    if (is_uniform(element)) {
      return fake_blocks_rounded(scaling, UniformRounding<V>(element), x, groups, out, scales);
    }
    return fake_blocks_rounded(scaling, FloatRounding<V>(element), x, groups, out, scales);
  }

  template <class Rounding>
  static int64_t encode_blocks_rounded(const formats::BlockScaling& scaling, const Rounding& round,
                                       const float* x, Groups groups, uint8_t* codes,
                                       uint8_t* scales) noexcept {
    return for_each_group(
        x, groups, [&](int64_t index, int64_t first, int64_t length, float absmax) {
          const int exponent = shared_exponent(scaling, round, x + first, length, absmax);
          const F inverse = V::set(formats::power_of_two(-exponent));
          scales[index] = static_cast<uint8_t>(exponent + formats::E8m0fnu::kBias);
          transform_bytes(x + first, length, codes + first,
                          [&](F v) { return round.code(V::mul(v, inverse)); });
        });
  }

  static int64_t encode_blocks(const formats::BlockScaling& scaling, const float* x, Groups groups,
                               uint8_t* codes, uint8_t* scales) noexcept {
    const formats::Element& element = scaling.element;
    if (!is_vectorizable(element)) {
      return kScalarKernels.encode_blocks(scaling, x, groups, codes, scales);
    }
    if (is_uniform(element)) {
      return encode_blocks_rounded(scaling, UniformRounding<V>(element), x, groups, codes, scales);
    }
    return encode_blocks_rounded(scaling, FloatRounding<V>(element), x, groups, codes, scales);
  }

  static void encode_integers(const formats::Element& element, const float* x, int64_t n,
                              IntegerBytes form, uint8_t* bytes) noexcept {
    const UniformRounding<V> round(element);
    const F divisor = V::set(form.scale);
    const I offset = V::set_int(form.offset);
    const I low_byte = V::set_int(0xff);
    transform_bytes(x, n, bytes, [&](F v) {
      return V::int_and(V::int_add(round.steps(V::div(v, divisor)), offset), low_byte);
    });
  }

  static void pack4(const uint8_t* codes, int64_t n, uint8_t* packed) noexcept {
    int64_t i = 0;
    for (; i + V::kPackedCodes <= n; i += V::kPackedCodes) V::pack4(codes + i, packed + i / 2);
    kScalarKernels.pack4(codes + i, n - i, packed + i / 2);
  }

  static void unpack4(const uint8_t* packed, int64_t n, uint8_t* codes) noexcept {
    int64_t i = 0;
    for (; i + V::kPackedCodes <= n; i += V::kPackedCodes) V::unpack4(packed + i / 2, codes + i);
    kScalarKernels.unpack4(packed + i / 2, n - i, codes + i);
  }

  static constexpr KernelSet set(std::string_view name) noexcept {
    return {.name = name,
            .absmax_bits = absmax_bits,
            .extent = extent,
            .fake_scaled = fake_scaled,
            .fake_groups = fake_groups,
            .fake_blocks = fake_blocks,
            .squared_error = squared_error,
            .encode_blocks = encode_blocks,
            .encode_integers = encode_integers,
            .pack4 = pack4,
            .unpack4 = unpack4};
  }
};

}  // namespace driftless::quant
