// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/operand.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/integer/samples.h"
#include "tests/testing/expect_error.h"

namespace driftless::integer {
namespace {

quant::QuantizedMatrix sample(const std::string& spec, Shape shape = {2, 70}) {
  return sample_matrix(spec, shape, Kind::Random, 3);
}

TEST(Operand, ShiftsMantissasIntoBytesWhereTheyFit) {
  auto matrix = sample("mxint4,window=4", {1, 33});
  std::fill(matrix.codes.begin(), matrix.codes.end(), uint8_t{0xd});  // -3
  matrix.scales.codes = {120, 118};
  const RowMatrix rows = make_rows(matrix, kScalarKernels);
  EXPECT_EQ(rows.stride, 64);
  EXPECT_EQ(static_cast<int8_t>(rows.bytes[0]), -48);
  EXPECT_EQ(static_cast<int8_t>(rows.bytes[32]), -12);
  EXPECT_EQ(rows.bytes[33], 0);
  // 2^(120 - 127) less the window of 4 and two fraction bits.
  EXPECT_EQ(rows.scales[0], 0x1p-13f);
  EXPECT_EQ(rows.shifts, AlignedVector<uint8_t>(2, 0));
}

TEST(Operand, KeepsShiftsApartWhereTheyDoNotFit) {
  auto matrix = sample("mxint8,window=3", {1, 33});
  std::fill(matrix.codes.begin(), matrix.codes.end(), uint8_t{0x81});
  matrix.scales.codes = {120, 118};
  const RowMatrix rows = make_rows(matrix, kScalarKernels);
  EXPECT_EQ(static_cast<int8_t>(rows.bytes[0]), -127);
  EXPECT_EQ(rows.shifts, (AlignedVector<uint8_t>{3, 1}));
  EXPECT_EQ(rows.scales[0], 0x1p-16f);
}

TEST(Operand, WithoutAWindowTakesTheWidestSpread) {
  auto matrix = sample("mxint4", {2, 96});
  matrix.scales.codes = {120, 118, 119, 100, 100, 97};
  std::fill(matrix.codes.begin(), matrix.codes.end(), uint8_t{1});
  EXPECT_EQ(make_rows(matrix, kScalarKernels).form.window, 3);
  // A zero block does not count, wherever its exponent lies.
  std::fill(matrix.codes.begin() + 96 + 64, matrix.codes.end(), uint8_t{0});
  matrix.scales.codes.back() = 0;
  EXPECT_EQ(make_rows(matrix, kScalarKernels).form.window, 2);
}

TEST(Operand, BeginsOnACacheLine) {
  const PanelMatrix panels = make_panels(sample("mxint4,window=4"), kernels());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(panels.bytes.data()) % kCacheLine, 0u);
}

TEST(Operand, PutColumnsAreThePanelsOfTheMatrix) {
  for (const Shape shape : {Shape{1, 1}, Shape{5, 7}, Shape{33, 32}, Shape{70, 97}}) {
    const auto matrix = sample("int8/channel", shape);
    for (const KernelSet* set : available_kernels()) {
      const PanelMatrix expected = make_panels(matrix, *set);
      PanelMatrix got = make_code_panels(shape.rows, shape.cols, *set);
      for (int64_t row = 0; row < shape.rows; ++row) {
        const auto first = matrix.codes.begin() + row * shape.cols;
        const std::vector<int8_t> codes(first, first + shape.cols);
        const float scale = matrix.scales.floats[static_cast<size_t>(row)].scale;
        put_column({codes.data(), scale}, got, row);
        if (set->row_flip != 0) continue;
        // An offset of the rows is so many times the sum of the codes.
        PanelMatrix offset = got;
        put_column({codes.data(), scale, 128}, offset, row);
        int32_t sum = 0;
        for (const int8_t code : codes) sum += code;
        EXPECT_EQ(offset.starts[static_cast<size_t>(row)], 128 * sum) << set->name;
      }
      EXPECT_EQ(got.bytes, expected.bytes) << set->name;
      EXPECT_EQ(got.starts, expected.starts) << set->name;
      EXPECT_EQ(got.scales, expected.scales) << set->name;
      EXPECT_EQ(got.shifts, expected.shifts) << set->name;
    }
  }
}

TEST(Operand, RefusesFormatsThatAreNotIntegers) {
  for (const char* spec : {"mxfp4", "mxint4,block=16", "int4/group32", "uint8/token", "nvfp4"}) {
    const auto values = std::vector<float>(64, 1.0f);
    const auto matrix =
        quant::Quantizer(quant::parse_quant_spec(spec)).quantize({values.data(), 1, 64});
    EXPECT_ERROR(make_rows(matrix, kScalarKernels), ErrorCode::Unsupported,
                 "expected mxint blocks of 32");
    EXPECT_ERROR(make_panels(matrix, kScalarKernels), ErrorCode::Unsupported, spec);
  }
}

TEST(Operand, RefusesBrokenMatrices) {
  auto matrix = sample("mxint4,window=4");
  matrix.codes.pop_back();
  EXPECT_ERROR(make_rows(matrix, kScalarKernels), ErrorCode::BadFile, "139 codes");
  matrix = sample("mxint4,window=4");
  matrix.scales.codes.pop_back();
  EXPECT_ERROR(make_panels(matrix, kScalarKernels), ErrorCode::BadFile, "5 scales");
  matrix = sample("mxint4,window=4");
  matrix.scales.codes = {120, 115, 120, 120, 120, 120};
  EXPECT_ERROR(make_rows(matrix, kScalarKernels), ErrorCode::BadFile,
               "row 0, block 1 lies 5 octaves");
  matrix.scales.codes[1] = 255;
  EXPECT_ERROR(make_rows(matrix, kScalarKernels), ErrorCode::BadFile, "NaN");
  matrix = sample("mxint4");
  matrix.scales.codes = {120, 109, 120, 120, 120, 120};
  EXPECT_ERROR(make_rows(matrix, kScalarKernels), ErrorCode::Unsupported, "window=4");
}

TEST(Kernels, ScalarIsAlwaysThereAndLast) {
  EXPECT_EQ(available_kernels().back(), &kScalarKernels);
}

}  // namespace
}  // namespace driftless::integer
