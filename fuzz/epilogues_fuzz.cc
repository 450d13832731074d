// SPDX-License-Identifier: Apache-2.0
// What happens between two products, on any values: every kernel set gives the portable set's bits,
// and a score that is not finite never gives shares that are. The first byte is the length of a
// row, the rest are floats.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "driftless/loop/kernels/epilogues.h"

namespace {

using driftless::loop::EpilogueSet;
using Floats = std::vector<float>;

/// Every kernel on the two halves of the values.
std::vector<Floats> results_of(const EpilogueSet& set, const Floats& a, const Floats& b) {
  const auto count = static_cast<int64_t>(a.size());
  std::vector<Floats> results(9, a);
  set.add(results[0].data(), b.data(), count);
  set.add_sum(results[1].data(), b.data(), b.data(), count);
  set.silu_mul(a.data(), b.data(), results[2].data(), count);
  set.add_norm(results[3].data(), b.data(), count, 1e-5f);
  set.softmax(results[4].data(), count, 0.25f);
  std::vector<uint8_t> codes(a.size());
  results[5] = {
      static_cast<float>(set.share_codes(a.data(), count, 0.25f, uint8_t{0}, codes.data()))};
  for (const uint8_t code : codes) results[5].push_back(code);
  set.subtract(a.data(), b.data(), results[6].data(), count);
  set.add_up(results[7].data(), results[8].data(), count);
  set.add_bytes(results[8].data(), codes.data(), count, uint8_t{0x80}, 0.1f);
  results.emplace_back(a.size() * b.size());
  set.multiply({.a = a.data(),
                .a_stride = 1,
                .b = b.data(),
                .b_stride = count,
                .c = results.back().data(),
                .c_stride = count,
                .m = count,
                .k = 1,
                .n = count});
  return results;
}

/// Equal bits, or both not a number.
bool is_same(const Floats& a, const Floats& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0 && !(std::isnan(a[i]) && std::isnan(b[i])))
      return false;
  return a.size() == b.size();
}

/// Softmax and shares of scores that are not finite are no numbers.
bool is_marked(const Floats& scores, const Floats& softmax, const Floats& shares) {
  for (const float score : scores)
    if (!std::isfinite(score)) return std::isnan(softmax[0]) && shares[0] == 0.0f;
  return !std::isnan(softmax[0]) && shares[0] >= 255.0f;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 9) return 0;
  const size_t count = std::min<size_t>(1 + data[0], (size - 1) / 8);
  Floats values(2 * count);
  std::memcpy(values.data(), data + 1, values.size() * sizeof(float));
  const Floats a(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  const Floats b(values.begin() + static_cast<std::ptrdiff_t>(count), values.end());
  const auto truth = results_of(*driftless::loop::available_epilogues().back(), a, b);
  if (!is_marked(a, truth[4], truth[5])) std::abort();
  for (const EpilogueSet* const set : driftless::loop::available_epilogues()) {
    const auto found = results_of(*set, a, b);
    for (size_t i = 0; i < truth.size(); ++i)
      if (!is_same(truth[i], found[i])) std::abort();
  }
  return 0;
}
