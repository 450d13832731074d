// SPDX-License-Identifier: Apache-2.0
// Products of every kernel set of the module with vectors, beside those of 64-bit arithmetic,
// epilogues beside the portable ones, and quantizers beside the scalar ones: what tests of
// integer/, loop/ and quant/ do on a processor, as a WebAssembly module (kernels_test.mjs).
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "driftless/base/isa.h"
#include "driftless/base/rng.h"
#include "driftless/integer/product.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/quantizer.h"

#include "tests/integer/samples.h"
#include "tests/testing/sample_values.h"

namespace {

using namespace driftless;
using namespace driftless::integer;

struct Pair {
  const char* left;
  const char* right;
};
constexpr const char* kS4m3 = "int4_full/block32,scale=s4m3,window=3";
/// Narrow rows at both ends of their bits, rows of 8 bits, panels with shifts in bytes and beside.
constexpr Pair kPairs[] = {
    {"mxint4,window=4", "mxint4,window=4"},
    {"mxint4,window=7", "mxint4,window=4"},
    {"mxint4,window=4", "mxint4,window=6"},
    {"mxint6,window=2", "mxint8,window=0"},
    {"mxint8,window=0", "mxint4,window=4"},
    {"mxint8,window=3", "mxint8,window=3"},
    {"int8/token", "int8_full/channel"},
    {"int7/token", "int8_full/channel"},
    {"int4/tensor", "mxint6,window=1"},
    {"int8_full/token", "int8_full/channel"},
    {kS4m3, kS4m3},
    {"int8/token", kS4m3},
};

struct State {
  std::string text{};
  int products = 0;
};

State& state() {
  static State only;
  return only;
}

/// Those that DRIFTLESS_ISA allows: JavaScript may have taken the others out of the module.
const std::vector<const KernelSet*>& sets() {
  static const std::vector<const KernelSet*> allowed = [] {
    std::vector<const KernelSet*> found;
    for (const KernelSet* set : available_kernels())
      if (is_allowed(set->name)) found.push_back(set);
    return found;
  }();
  return allowed;
}

/// Whether all sums and floats of left times right are as they must be; the text says what is not.
bool is_exact(const quant::QuantizedMatrix& left, const quant::QuantizedMatrix& right,
              const RowMatrix& rows, const PanelMatrix& panels) {
  const KernelSet& set = *rows.set;
  const auto expected = exact_product(integers_of(left, rows.scales.data()),
                                      integers_of(right, panels.scales.data()), left.cols);
  std::vector<int32_t> sums(expected.size(), 77);
  std::vector<float> products(expected.size(), 77.0f);
  multiply_exact(rows, panels, {sums.data(), left.rows, right.rows});
  multiply(rows, panels, {products.data(), left.rows, right.rows});
  ++state().products;
  for (size_t i = 0; i < expected.size(); ++i) {
    const float scale = rows.scales[i / static_cast<size_t>(right.rows)] *
                        panels.scales[i % static_cast<size_t>(right.rows)];
    const float product = static_cast<float>(expected[i]) * scale;
    if (sums[i] == expected[i] && std::memcmp(&products[i], &product, sizeof(float)) == 0) continue;
    state().text = std::string(set.name) + ": " + to_string(left.spec) + " x " +
                   to_string(right.spec) + ", k " + std::to_string(left.cols) + ", output " +
                   std::to_string(i) + ": got " + std::to_string(sums[i]) + ", expected " +
                   std::to_string(expected[i]);
    return false;
  }
  return true;
}

bool are_exact(const Pair& pair, Shape left, Shape right, Kind left_kind, Kind right_kind,
               uint64_t seed) {
  const auto a = sample_matrix(pair.left, left, left_kind, seed);
  const auto b = sample_matrix(pair.right, right, right_kind, seed + 1);
  return std::all_of(sets().begin(), sets().end(), [&](const KernelSet* set) {
    const RowMatrix rows = make_rows(a, *set);
    return is_exact(a, b, rows, make_panels(b, *set)) &&
           is_exact(a, b, rows, make_panels(b, *set, rows.form));
  });
}

bool run_all() {
  uint64_t seed = 1;
  for (const Pair& pair : kPairs) {
    for (const Kind left : kKinds)
      for (const Kind right : kKinds)
        if (!are_exact(pair, {7, 130}, {37, 130}, left, right, seed += 2)) return false;
    for (int64_t k = 1; k <= 100; ++k)
      if (!are_exact(pair, {1 + k % 9, k}, {1 + k % 33, k}, Kind::Random, Kind::Random, seed += 2))
        return false;
  }
  return true;
}

/// Ordinary values, any bits of floats that are finite, and values of at most 13 bits: where an
/// exponential's remainder has few, its sums end halfway between two floats.
std::vector<float> sample_floats(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  while (std::ssize(values) < count) {
    const auto bits = static_cast<uint32_t>(rng.next());
    const float any = __builtin_bit_cast(float, bits);
    values.push_back(static_cast<float>(3 * rng.gaussian()));
    values.push_back(any - any == 0.0f ? any : 0.0f);
    values.push_back(static_cast<float>(static_cast<int32_t>(bits) >> 18) * 0x1p-13f);
  }
  values.resize(static_cast<size_t>(count));
  return values;
}

/// What a set makes of the same values.
std::vector<std::vector<float>> epilogues_of(const loop::EpilogueSet& set, int64_t count) {
  const auto a = sample_floats(count, 1);
  const auto b = sample_floats(count, 2);
  std::vector<std::vector<float>> results(7, sample_floats(count, 3));
  set.silu_mul(a.data(), b.data(), results[0].data(), count);
  std::vector<float> scores = sample_floats(count, 4);
  for (float& score : scores) score = std::clamp(score, -1e6f, 1e6f);
  results[1] = scores;
  set.softmax(results[1].data(), count, 0.125f);
  std::vector<uint8_t> codes(static_cast<size_t>(count));
  const int32_t sum = set.share_codes(scores.data(), count, 0.1f, 0x80, codes.data());
  results[2].assign(codes.begin(), codes.end());
  results[2].push_back(static_cast<float>(sum));
  const int64_t k = std::min<int64_t>(count / 7, 12);
  results[3].assign(static_cast<size_t>(7 * k), 0.0f);
  set.multiply({scores.data(), k, a.data(), k, results[3].data(), k, 7, k, k});
  set.subtract(a.data(), b.data(), results[4].data(), count);
  set.add_up(results[5].data(), results[6].data(), count);
  set.add_bytes(results[6].data(), codes.data(), count, 0x80, 0.1f);
  return results;
}

bool have_same_epilogues() {
  const loop::EpilogueSet& portable = *loop::available_epilogues().back();
  for (const loop::EpilogueSet* set : loop::available_epilogues()) {
    if (set == &portable || !is_allowed(set->name)) continue;
    for (const int64_t count : {1, 3, 16, 29, 150, 200'000}) {
      const auto expected = epilogues_of(portable, count);
      const auto got = epilogues_of(*set, count);
      for (size_t kind = 0; kind < expected.size(); ++kind)
        for (size_t i = 0; i < expected[kind].size(); ++i) {
          // Not a number is one value, whatever its bits.
          if (std::memcmp(&got[kind][i], &expected[kind][i], sizeof(float)) == 0 ||
              (got[kind][i] != got[kind][i] && expected[kind][i] != expected[kind][i]))
            continue;
          state().text = std::string(set->name) + ": epilogue " + std::to_string(kind) + " of " +
                         std::to_string(count) + ", output " + std::to_string(i) + ": got " +
                         std::to_string(got[kind][i]) + ", expected " +
                         std::to_string(expected[kind][i]);
          return false;
        }
    }
  }
  return true;
}

/// Quantizers of every kind, with the values that find mistakes on a processor.
bool have_same_quantizers() {
  constexpr int64_t kRows = 5, kCols = 97;
  const auto values = testing::awkward_values(kRows * kCols, 9);
  for (const char* text : {"mxint4", "mxint4,rule=mse", "mxint4,window=4", "mxint8", "mxfp4",
                           "mxfp8_e4m3", "nvfp4", "int4/block32,scale=e5m3", "int4/group32",
                           "uint4/group32", "int8/token", "int4/tensor", "bf16", "fp8_e4m3"}) {
    quant::Quantizer quantizer(quant::parse_quant_spec(text));
    const auto quantized_by = [&](const quant::KernelSet& set) {
      std::vector<float> out(values.size());
      quantizer.use_kernels(set);
      quantizer.fake_quantize({values.data(), kRows, kCols}, {out.data(), kRows, kCols});
      return out;
    };
    const std::vector<float> expected = quantized_by(quant::kScalarKernels);
    for (const quant::KernelSet* set : quant::available_kernels()) {
      if (!is_allowed(set->name)) continue;
      const std::vector<float> got = quantized_by(*set);
      if (std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0) continue;
      state().text = std::string(set->name) + ": " + text + " gives other values";
      return false;
    }
  }
  return true;
}

}  // namespace

/// How many products were right, or -1, with a text of what was not.
extern "C" [[clang::export_name("run")]] int run() {
  try {
    for (const KernelSet* set : sets()) (state().text += set->name) += ' ';
    return run_all() && have_same_epilogues() && have_same_quantizers() ? state().products : -1;
  } catch (const std::exception& error) {
    state().text = error.what();
    return -1;
  }
}
extern "C" [[clang::export_name("text")]] const char* text() { return state().text.data(); }
extern "C" [[clang::export_name("text_bytes")]] size_t text_bytes() { return state().text.size(); }
