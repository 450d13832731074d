// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/tensor.h"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

#include "tests/testing/expect_error.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;

TEST(Tensor, TableIsIndexedByItsEnum) {
  for (const DTypeInfo& row : kDTypes) EXPECT_EQ(&info(row.dtype), &row);
}

TEST(Tensor, CountsAreCheckedForOverflow) {
  const int64_t big = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(element_count(std::vector<int64_t>{}), 1);
  EXPECT_EQ(element_count(std::vector<int64_t>{3, 5, 7}), 105);
  EXPECT_EQ(element_count(std::vector<int64_t>{big, 2}), std::nullopt);
  EXPECT_EQ(element_count(std::vector<int64_t>{big, 2, 0}), 0);
  EXPECT_EQ(byte_count(DType::F16, std::vector<int64_t>{3}), 6);
  EXPECT_EQ(byte_count(DType::F32, std::vector<int64_t>{big / 2}), std::nullopt);
}

TEST(Tensor, FloatTypesRoundTripFromUnalignedBytes) {
  const std::vector<float> values = {0.0f, -1.5f, 0.25f, 96.0f};
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    std::vector<std::byte> bytes(1);
    const auto stored = from_float32(values, dtype, "t");
    bytes.insert(bytes.end(), stored.begin(), stored.end());
    const TensorView view{dtype, {4}, std::span(bytes).subspan(1)};
    EXPECT_EQ(to_float32(view, "t"), values);
  }
}

TEST(Tensor, DoublesAreRounded) {
  const double value = 0.1;
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  EXPECT_EQ(to_float32({DType::F64, {1}, bytes}, "t"), std::vector<float>{0.1f});
}

TEST(Tensor, OtherTypesAndOverflowAreRefused) {
  const std::vector<std::byte> bytes(4);
  expect_error(ErrorCode::Unsupported, "key: wrong element type; got I32", [&] {
    to_float32({DType::I32, {1}, bytes}, "key");
  });
  expect_error(ErrorCode::Unsupported, "I64",
               [] { from_float32(std::vector<float>{1}, DType::I64, "key"); });
  expect_error(ErrorCode::Numeric, "does not fit F16",
               [] { from_float32(std::vector<float>{1e6f}, DType::F16, "key"); });
}

TEST(Tensor, ShapeText) {
  EXPECT_EQ(shape_text(std::vector<int64_t>{2, 512}), "[2, 512]");
  EXPECT_EQ(shape_text(std::vector<int64_t>{}), "[]");
}

}  // namespace
}  // namespace driftless::store
