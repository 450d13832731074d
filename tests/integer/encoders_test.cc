// SPDX-License-Identifier: Apache-2.0
// Encoders give the codes, scale codes and bytes of quant's scalar kernels.
#include "driftless/integer/kernels/encoders.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/spec.h"

#include "tests/testing/sample_values.h"

namespace driftless::integer {
namespace {

formats::BlockScaling scaling_of(const char* spec) {
  const quant::QuantSpec parsed = quant::parse_quant_spec(spec);
  return formats::block_scaling(parsed.format->element, parsed.rule);
}

constexpr const char* kKnown[] = {"mxint4",          "mxint4,rule=mse", "mxint8",
                                  "mxint8,rule=mse", "mxint3",          "mxint2,rule=mse"};

struct Encoded {
  std::vector<uint8_t> codes, scales;
};

/// Block by block, rows of `cols` values.
Encoded by_definition(const formats::BlockScaling& scaling, const std::vector<float>& values,
                      int64_t cols) {
  const int64_t rows = std::ssize(values) / cols;
  const int64_t blocks = (cols + kBlock - 1) / kBlock;
  Encoded out{std::vector<uint8_t>(values.size()),
              std::vector<uint8_t>(static_cast<size_t>(rows * blocks))};
  for (int64_t row = 0; row < rows; ++row)
    quant::kScalarKernels.encode_blocks(scaling, values.data() + row * cols, {cols, kBlock},
                                        out.codes.data() + row * cols,
                                        out.scales.data() + row * blocks);
  return out;
}

TEST(Encoders, RowsEqualTheScalarTruth) {
  for (const KernelSet* set : available_kernels()) {
    if (set->encoders == nullptr) continue;
    for (const char* spec : kKnown)
      for (const int64_t rows : {1, 2, 3, 4, 5, 11, 12, 81})
        for (const int64_t blocks : {1, 3}) {
          const auto scaling = scaling_of(spec);
          ASSERT_TRUE(set->encoders->knows(scaling)) << spec;
          const int64_t cols = blocks * kBlock;
          const auto values = testing::awkward_values(rows * cols, static_cast<uint64_t>(rows));
          const Encoded expected = by_definition(scaling, values, cols);
          Encoded out{std::vector<uint8_t>(values.size(), 99),
                      std::vector<uint8_t>(expected.scales.size(), 99)};
          EXPECT_TRUE(set->encoders->encode_rows(
              scaling, {values.data(), cols, rows, blocks, out.codes.data(), cols,
                        out.scales.data(), blocks}));
          EXPECT_EQ(out.codes, expected.codes) << spec << ", " << rows << " rows";
          EXPECT_EQ(out.scales, expected.scales) << spec << ", " << rows << " rows";
        }
  }
}

TEST(Encoders, ColumnsEqualTheScalarTruth) {
  for (const KernelSet* set : available_kernels()) {
    if (set->encoders == nullptr) continue;
    const int64_t width = set->columns;
    for (const char* spec : kKnown)
      for (int64_t rows = 1; rows <= kBlock; ++rows) {
        const auto scaling = scaling_of(spec);
        // A column of the values is a row of the reference; 3 more lie between rows.
        const auto columns = testing::awkward_values(rows * width, static_cast<uint64_t>(rows));
        const int64_t stride = width + 3;
        std::vector<float> values(static_cast<size_t>(rows * stride), NAN);
        for (int64_t c = 0; c < width; ++c)
          for (int64_t r = 0; r < rows; ++r)
            values[static_cast<size_t>(r * stride + c)] =
                columns[static_cast<size_t>(c * rows + r)];
        const Encoded expected = by_definition(scaling, columns, rows);
        const int64_t steps = (rows + kStep - 1) / kStep;
        std::vector<int8_t> out(static_cast<size_t>(steps * width * kStep), 99);
        std::vector<uint8_t> scales(static_cast<size_t>(width), 99);
        EXPECT_TRUE(set->encoders->encode_columns(
            scaling, {values.data(), stride, rows, out.data(), scales.data()}));
        EXPECT_EQ(scales, expected.scales) << spec << ", " << rows << " rows";
        for (int64_t c = 0; c < width; ++c)
          for (int64_t r = 0; r < steps * kStep; ++r) {
            const auto got = static_cast<uint8_t>(
                out[static_cast<size_t>((r / kStep * width + c) * kStep + r % kStep)]);
            const uint8_t code = r < rows ? expected.codes[static_cast<size_t>(c * rows + r)] : 0;
            ASSERT_EQ(got, code) << spec << ", row " << r << ", column " << c;
          }
      }
  }
}

TEST(Encoders, SeeEveryValueThatIsNotFinite) {
  for (const KernelSet* set : available_kernels()) {
    if (set->encoders == nullptr) continue;
    for (const char* spec : {"mxint4", "mxint4,rule=mse"})
      for (const float bad : {NAN, INFINITY, -INFINITY})
        for (const size_t at : {size_t{0}, size_t{31}, size_t{40}, size_t{127}}) {
          std::vector<float> values(4 * 32, 1.0f);
          values[at] = bad;
          std::vector<uint8_t> codes(values.size());
          std::vector<uint8_t> scales(32);
          EXPECT_FALSE(set->encoders->encode_rows(
              scaling_of(spec), {values.data(), 32, 4, 1, codes.data(), 32, scales.data(), 1}));
          std::vector<int8_t> steps(values.size());
          EXPECT_FALSE(set->encoders->encode_columns(
              scaling_of(spec), {values.data(), 32, 4, steps.data(), scales.data()}));
        }
  }
}

TEST(Encoders, LeaveOtherFormatsToQuant) {
  for (const KernelSet* set : available_kernels()) {
    if (set->encoders == nullptr) continue;
    for (const char* spec : {"mxint4,rule=ceil", "mxfp4", "mxfp8_e4m3"})
      EXPECT_FALSE(set->encoders->knows(scaling_of(spec))) << spec;
  }
}

}  // namespace
}  // namespace driftless::integer
