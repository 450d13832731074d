// SPDX-License-Identifier: Apache-2.0
// Products of every kernel set of the module with vectors, beside those of 64-bit arithmetic: what
// tests/integer/product_test.cc does on a processor, as a WebAssembly module (kernels_test.mjs).
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "driftless/base/isa.h"
#include "driftless/integer/product.h"

#include "tests/integer/samples.h"

namespace {

using namespace driftless;
using namespace driftless::integer;

struct Pair {
  const char* left;
  const char* right;
};
/// Narrow rows at both ends of their bits, rows of 8 bits, panels with shifts in bytes and beside.
constexpr Pair kPairs[] = {
    {"mxint4,window=4", "mxint4,window=4"}, {"mxint4,window=7", "mxint4,window=4"},
    {"mxint4,window=4", "mxint4,window=6"}, {"mxint6,window=2", "mxint8,window=0"},
    {"mxint8,window=0", "mxint4,window=4"}, {"mxint8,window=3", "mxint8,window=3"},
    {"int8/token", "int8_full/channel"},    {"int7/token", "int8_full/channel"},
    {"int4/tensor", "mxint6,window=1"},     {"int8_full/token", "int8_full/channel"},
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
              const KernelSet& set) {
  const RowMatrix rows = make_rows(left, set);
  const PanelMatrix panels = make_panels(right, set);
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
  return std::all_of(sets().begin(), sets().end(),
                     [&](const KernelSet* set) { return is_exact(a, b, *set); });
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

}  // namespace

/// How many products were right, or -1, with a text of what was not.
extern "C" [[clang::export_name("run")]] int run() {
  try {
    for (const KernelSet* set : sets()) (state().text += set->name) += ' ';
    return run_all() ? state().products : -1;
  } catch (const std::exception& error) {
    state().text = error.what();
    return -1;
  }
}
extern "C" [[clang::export_name("text")]] const char* text() { return state().text.data(); }
extern "C" [[clang::export_name("text_bytes")]] size_t text_bytes() { return state().text.size(); }
