// SPDX-License-Identifier: Apache-2.0
// Any values under any quantizer: every kernel set gives the scalar set's codes, scales and values,
// or refuses with it; and fake quantization is decoding what was encoded. The text before the first
// zero byte is the quantizer, the next byte the columns, the rest are floats.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/quant/quantizer.h"

namespace {

using namespace driftless;

struct Outcome {
  std::vector<float> faked;
  std::optional<quant::QuantizedMatrix> matrix;
};

Outcome outcome_of(const quant::QuantSpec& spec, const quant::KernelSet& set, quant::ConstMat in) {
  Outcome outcome{.faked = std::vector<float>(static_cast<size_t>(in.rows * in.cols)),
                  .matrix = std::nullopt};
  try {
    quant::Quantizer quantizer(spec);
    quantizer.use_kernels(set);
    quantizer.fake_quantize(in, {outcome.faked.data(), in.rows, in.cols});
    outcome.matrix = quantizer.quantize(in);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Internal) std::abort();
    if (error.code() == ErrorCode::Numeric) outcome.faked.clear();
  }
  return outcome;
}

void require(bool is_true) {
  if (!is_true) std::abort();
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void compare(const Outcome& truth, const Outcome& found) {
  require(same_bits(truth.faked, found.faked));
  require(truth.matrix.has_value() == found.matrix.has_value());
  if (!truth.matrix) return;
  require(truth.matrix->codes == found.matrix->codes);
  require(truth.matrix->scales.codes == found.matrix->scales.codes);
  require(truth.matrix->scales.floats == found.matrix->scales.floats);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = std::find(data, data + size, 0);
  const auto text_size = static_cast<size_t>(end - data);
  if (size < text_size + 6) return 0;
  quant::QuantSpec spec;
  try {
    spec = quant::parse_quant_spec({reinterpret_cast<const char*>(data), text_size});
  } catch (const Error&) {
    return 0;
  }
  const int64_t cols = 1 + end[1];
  std::vector<float> values((size - text_size - 2) / sizeof(float));
  values.resize(values.size() / static_cast<size_t>(cols) * static_cast<size_t>(cols));
  if (values.empty()) return 0;
  std::memcpy(values.data(), end + 2, values.size() * sizeof(float));
  const quant::ConstMat in{values.data(), static_cast<int64_t>(values.size()) / cols, cols};
  const Outcome truth = outcome_of(spec, quant::kScalarKernels, in);
  for (const quant::KernelSet* const set : quant::available_kernels())
    compare(truth, outcome_of(spec, *set, in));
  if (!truth.matrix) return 0;
  std::vector<float> decoded(values.size());
  quant::dequantize(*truth.matrix, {decoded.data(), in.rows, in.cols});
  require(same_bits(decoded, truth.faked));
  return 0;
}
