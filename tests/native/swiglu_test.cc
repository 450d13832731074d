// SPDX-License-Identifier: Apache-2.0
// The fused chain equals its parts one after another: quantize, multiply, activate, quantize,
// multiply.
#include "driftless/native/swiglu.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/native/column_swiglu.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::native {
namespace {

void silu_mul(const float* gate, const float* up, float* out, int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) out[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
}

const loop::EpilogueSet kEpilogues = [] {
  loop::EpilogueSet set = loop::epilogues();
  set.silu_mul = silu_mul;
  return set;
}();

quant::QuantizedMatrix quantized(const std::string& spec, const std::vector<float>& values,
                                 int64_t rows) {
  const int64_t cols = std::ssize(values) / rows;
  return quant::Quantizer(quant::parse_quant_spec(spec)).quantize({values.data(), rows, cols});
}

std::vector<float> product(const quant::QuantizedMatrix& left,
                           const quant::QuantizedMatrix& right) {
  std::vector<float> out(static_cast<size_t>(left.rows * right.rows));
  multiply(make_rows(left, kScalarKernels), make_panels(right, kScalarKernels),
           {out.data(), left.rows, right.rows});
  return out;
}

constexpr const char* kE5m3 = "int4/block32,scale=e5m3,window=0";
constexpr const char* kS4m3 = "int4_full/block32,scale=s4m3,window=0";

constexpr const char* kE5m3Shifted = "int4/block32,scale=e5m3,window=3";
constexpr const char* kS4m3Shifted = "int4_full/block32,scale=s4m3,window=3";

struct Case {
  std::string weights, input, hidden;
  int64_t rows, width, inner;
};

std::vector<float> one_after_another(const Case& c, const std::vector<float>& h,
                                     const quant::QuantizedMatrix& gate_up,
                                     const quant::QuantizedMatrix& down) {
  const auto both = product(quantized(c.input, h, c.rows), gate_up);
  std::vector<float> hidden(static_cast<size_t>(c.rows * c.inner));
  for (int64_t row = 0; row < c.rows; ++row) {
    const float* const gate = both.data() + row * 2 * c.inner;
    silu_mul(gate, gate + c.inner, hidden.data() + row * c.inner, c.inner);
  }
  return product(quantized(c.hidden, hidden, c.rows), down);
}

TEST(Swiglu, EqualsItsPartsOneAfterAnother) {
  const Case cases[] = {
      {"mxint4,window=4", "mxint4,window=4", "mxint4,window=4", 97, 64, 96},
      {"mxint4,rule=mse", "mxint4,rule=mse,window=4", "mxint4,window=4", 13, 81, 64},
      {"mxint8,window=3", "mxint8,window=3", "mxint8,window=3", 5, 40, 32},
      {"int8/channel", "int8/token", "mxint4,window=6", 1, 33, 160},
      {"int8/channel", "int8/token", "int8/token", 14, 64, 64},
      {"int8/channel", "int4/token", "int8_full/token", 81, 81, 96},
      {"int8/channel", "int8/token", "mxint4,window=4", 16, 96, 64},
      {"mxint4,window=4", "mxint4,window=4", "mxint4,window=4", 17, 64, 32},
      {"mxint4,window=4", "mxint4,window=4", "int8/token", 33, 130, 96},
      {kE5m3, kE5m3, kE5m3, 97, 64, 96},
      {kS4m3, kS4m3, kS4m3, 13, 81, 64},
      {kE5m3Shifted, kE5m3Shifted, kE5m3Shifted, 97, 64, 96},
      {kS4m3Shifted, kS4m3Shifted, kS4m3, 13, 81, 64},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.weights + ", rows " + std::to_string(c.rows));
    const auto h = testing::gaussian_values(c.rows * c.width, 1);
    const auto gate_up =
        quantized(c.weights, testing::gaussian_values(2 * c.inner * c.width, 2), 2 * c.inner);
    const auto down = quantized(c.weights, testing::gaussian_values(c.inner * c.width, 3), c.width);
    const auto expected = one_after_another(c, h, gate_up, down);
    for (const KernelSet* set : available_kernels()) {
      const Swiglu swiglu({gate_up, down},
                          {quant::parse_quant_spec(c.input), quant::parse_quant_spec(c.hidden)},
                          *set, kEpilogues);
      auto scratch = swiglu.make_scratch(c.rows);
      std::vector<float> out(h.size());
      for (int pass = 0; pass < 2; ++pass) {
        swiglu.run({h.data(), c.rows, c.width}, scratch, {out.data(), c.rows, c.width});
        EXPECT_EQ(out, expected) << set->name;
      }
    }
  }
}

struct ColumnCase {
  const char* weights;
  const char* acts;
};
constexpr ColumnCase kColumnCases[] = {
    {"mxint4,window=4", "mxint4,window=4"},
    {"mxint4,rule=mse,window=4", "mxint4,window=2"},
    {"mxint8,window=3", "mxint8,window=3"},
    {"mxint8,window=2", "mxint8,rule=mse,window=1"},
    {"mxint6,window=3", "mxint4,window=5"},
    {"int8/channel", "int8/token"},
    {"int8/channel", "int8_full/token"},
    {"mxint4,window=4", "int8/token"},
    {"int8/channel", "mxint4,window=4"},
    {"int4/channel", "int4/token"},
    {"mxint4,window=7", "mxint4,window=10"},
    {kE5m3, kE5m3},
    {kS4m3, kS4m3},
    {"mxint4,window=4", "int4/block32,scale=e4m4,window=0"},
    {kE5m3Shifted, kE5m3Shifted},
    {kS4m3Shifted, kS4m3Shifted},
    {"mxint8,window=3", "int3/block32,scale=e4m4,window=3"},
    {kS4m3Shifted, "int4_full/block32,scale=s4m3,window=1"},
};

/// Columns of a state as rows, through both ways.
void expect_equal_columns(const ColumnSwiglu& columns, const Swiglu& rows, int64_t k) {
  const int64_t width = columns.columns();
  // Rows of very different size, so that the window acts.
  auto h = testing::gaussian_values(width * k, 1);
  for (size_t i = 0; i < h.size(); ++i) h[i] *= std::exp2(static_cast<float>(i % 97 / 12));
  std::vector<float> turned(h.size());
  for (int64_t c = 0; c < width; ++c)
    for (int64_t r = 0; r < k; ++r)
      turned[static_cast<size_t>(r * width + c)] = h[static_cast<size_t>(c * k + r)];
  std::vector<float> expected(h.size());
  auto row_scratch = rows.make_scratch(width);
  rows.run({h.data(), width, k}, row_scratch, {expected.data(), width, k});
  std::vector<float> out(h.size());
  auto scratch = columns.make_scratch();
  for (int pass = 0; pass < 2; ++pass) columns.run(turned.data(), width, scratch, out.data());
  for (int64_t c = 0; c < width; ++c)
    for (int64_t r = 0; r < k; ++r)
      ASSERT_EQ(out[static_cast<size_t>(r * width + c)], expected[static_cast<size_t>(c * k + r)])
          << "row " << r << ", column " << c;
  turned[0] = NAN;
  EXPECT_ERROR(columns.run(turned.data(), width, scratch, out.data()), ErrorCode::Numeric, "input");
}

TEST(ColumnSwiglu, EqualsTheSameOnTransposedRows) {
  constexpr int64_t kInner = 96;
  int64_t compared = 0;
  for (const KernelSet* set : available_kernels())
    for (const ColumnCase& c : kColumnCases)
      for (const int64_t k : {1, 17, 32, 81, 97}) {
        SCOPED_TRACE(std::string(set->name) + ", " + c.weights + ", " + c.acts + ", K " +
                     std::to_string(k));
        const auto acts = quant::parse_quant_spec(c.acts);
        const auto gate_up =
            quantized(c.weights, testing::gaussian_values(2 * kInner * k, 2), 2 * kInner);
        const auto down = quantized(c.weights, testing::gaussian_values(kInner * k, 3), k);
        EXPECT_EQ(ColumnSwiglu::suits({gate_up, down}, {acts, acts}, *set),
                  set->encoders != nullptr);
        if (set->encoders == nullptr) continue;
        expect_equal_columns({{gate_up, down}, {acts, acts}, *set, kEpilogues},
                             {{gate_up, down}, {acts, acts}, *set, kEpilogues}, k);
        ++compared;
      }
  if (compared == 0) GTEST_SKIP() << "no set of this processor has column encoders";
}

TEST(Swiglu, RefusesWhatDoesNotFit) {
  const auto values = [](int64_t n) { return testing::gaussian_values(n, 1); };
  const auto mx = quant::parse_quant_spec("mxint4,window=4");
  const auto make = [&](int64_t inner, const char* hidden) {
    const auto gate_up = quantized("mxint4,window=4", values(2 * inner * 40), 2 * inner);
    const auto down = quantized("mxint4,window=4", values(40 * inner), 40);
    return Swiglu({gate_up, down}, {mx, quant::parse_quant_spec(hidden)}, kScalarKernels,
                  kEpilogues);
  };
  EXPECT_ERROR(make(48, "mxint4,window=4"), ErrorCode::InvalidArgument, "multiple of 32");
  EXPECT_ERROR(make(64, "mxint4"), ErrorCode::Unsupported, "window=4");
  const Swiglu swiglu = make(64, "mxint4,window=4");
  auto scratch = swiglu.make_scratch(2);
  std::vector<float> h(120);
  std::vector<float> out(120);
  EXPECT_ERROR(swiglu.run({h.data(), 3, 40}, scratch, {out.data(), 3, 40}),
               ErrorCode::InvalidArgument, "at most 2 x 40");
  std::fill(h.begin(), h.end(), 0x1p126f);
  EXPECT_ERROR(swiglu.run({h.data(), 2, 40}, scratch, {out.data(), 2, 40}), ErrorCode::Numeric,
               "hidden activations of rows 0");
  h[41] = NAN;
  EXPECT_ERROR(swiglu.run({h.data(), 2, 40}, scratch, {out.data(), 2, 40}), ErrorCode::Numeric,
               "row 1");
}

}  // namespace
}  // namespace driftless::native
