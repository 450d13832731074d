// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/dataset/npy.h"

#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

#include "tests/store/npy_bytes.h"
#include "tests/testing/bytes.h"
#include "tests/testing/expect_error.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using driftless::testing::little_endian;
using driftless::testing::to_bytes;
using testing::npy_bytes;

void expect_refused(ErrorCode code, const std::string& word, const std::string& file) {
  const auto bytes = to_bytes(file);
  expect_error(code, word, [&] { parse_npy(bytes, "a.npy"); });
  expect_error(code, "a.npy: ", [&] { parse_npy(bytes, "a.npy"); });
}

std::string with_header(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(uint16_t(header.size())) + header +
         data;
}

TEST(Npy, ReadsEveryVersionAndIntegerType) {
  const std::string data32 = little_endian(int32_t{-7}) + little_endian(int32_t{1 << 30});
  const std::string data64 = little_endian(int64_t{-7}) + little_endian(int64_t{1} << 40);
  for (const char version : {char{1}, char{2}, char{3}}) {
    const auto i4 = to_bytes(npy_bytes("<i4", "(2,)", data32, version));
    EXPECT_EQ(to_integers(parse_npy(i4, ""), ""), (std::vector<int64_t>{-7, 1 << 30}));
    const auto i8 = to_bytes(npy_bytes("<i8", "(2, 1)", data64, version));
    EXPECT_EQ(parse_npy(i8, "").shape, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(to_integers(parse_npy(i8, ""), ""), (std::vector<int64_t>{-7, int64_t{1} << 40}));
    const auto u1 = to_bytes(npy_bytes("|u1", "(1, 2)", "\xff\x01", version));
    EXPECT_EQ(to_integers(parse_npy(u1, ""), ""), (std::vector<int64_t>{255, 1}));
  }
}

TEST(Npy, ReadsFloatsScalarsAndEmptyArrays) {
  const auto scalar = to_bytes(npy_bytes("<f4", "()", little_endian(2.5f)));
  EXPECT_EQ(to_float32(parse_npy(scalar, ""), ""), std::vector<float>{2.5f});
  const auto empty = to_bytes(npy_bytes("<f4", "(0, 81)", ""));
  EXPECT_TRUE(parse_npy(empty, "").bytes.empty());
}

TEST(Npy, KeysMayComeInAnyOrder) {
  const auto file =
      to_bytes(with_header("{'shape': (1,), 'fortran_order': False, 'descr': '|u1'}\n", "x"));
  EXPECT_EQ(parse_npy(file, "").dtype, DType::U8);
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string whole = npy_bytes("<i4", "(2,)", std::string(8, 'x'));
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto bytes = to_bytes(std::string_view(whole).substr(0, length));
    EXPECT_THROW(parse_npy(bytes, ""), Error) << length;
  }
}

TEST(Npy, HostileFilesAreRefused) {
  const auto bad = ErrorCode::BadFile;
  expect_refused(bad, "not an npy file", "");
  expect_refused(bad, "not an npy file", "PK\x03\x04 something else");
  expect_refused(ErrorCode::Unsupported, "npy version; got 4", npy_bytes("|u1", "(1,)", "x", 4));
  expect_refused(bad, "does not match the shape", npy_bytes("<i4", "(3,)", std::string(8, 'x')));
  expect_refused(bad, "does not match the shape", npy_bytes("<i4", "(1,)", std::string(8, 'x')));
  expect_refused(bad, "does not match the shape",
                 npy_bytes("<i8", "(4611686018427387904, 4)", "xxxxxxxx"));
  expect_refused(bad, "expected an extent", npy_bytes("|u1", "(99999999999999999999,)", "x"));
  expect_refused(bad, "expected an extent", npy_bytes("|u1", "(-1,)", "x"));
  expect_refused(bad, "too many dimensions", npy_bytes("|u1", "(1,1,1,1,1,1,1,1,1)", "x"));
  expect_refused(ErrorCode::Unsupported, "element type; got '>i4'", npy_bytes(">i4", "()", "xxxx"));
  expect_refused(ErrorCode::Unsupported, "element type; got '|O'", npy_bytes("|O", "()", "xxxx"));
  expect_refused(bad, "header does not fit",
                 std::string("\x93NUMPY\x02\x00", 8) + little_endian(~uint32_t{0}) + "{}");
}

TEST(Npy, MalformedHeadersAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected '{'"},
      {"{", "expected '''"},
      {"{}", "lacks a key"},
      {"{'descr': '|u1'}", "lacks a key"},
      {"{'descr': '|u1', 'descr': '|u1'}", "repeated key; got 'descr'"},
      {"{'shape': (1,), 'shape': (1,)}", "repeated key"},
      {"{'color': 'red'}", "unknown or repeated key; got 'color'"},
      {"{'descr", "closing quote"},
      {"{'descr' '|u1'}", "expected ':'"},
      {"{'descr': '|u1' 'shape': ()}", "expected ','"},
      {"{'fortran_order': None}", "True or False"},
      {"{'shape': (1", "expected ','"},
      {"{} x", "the end"}};
  for (const auto& [header, word] : cases)
    expect_refused(ErrorCode::BadFile, word, with_header(header, "x"));
  expect_refused(ErrorCode::Unsupported, "Fortran order",
                 with_header("{'descr': '|u1', 'fortran_order': True, 'shape': (1,)}", "x"));
}

TEST(Npy, FloatsAreNotIntegers) {
  const auto file = to_bytes(npy_bytes("<f4", "(1,)", little_endian(1.0f)));
  expect_error(ErrorCode::Unsupported, "got F32", [&] { to_integers(parse_npy(file, ""), ""); });
}

TEST(Npy, WritesWhatItReads) {
  const std::string data = little_endian(int32_t{-7}) + little_endian(int32_t{9});
  const auto values = to_bytes(data);
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{2}, std::vector<int64_t>{1, 2}, std::vector<int64_t>{2, 1, 1}}) {
    const auto file = to_bytes(to_npy({DType::I32, shape, values}));
    const TensorView read = parse_npy(file, "");
    EXPECT_EQ(read.shape, shape);
    EXPECT_EQ(to_integers(read, ""), (std::vector<int64_t>{-7, 9}));
    EXPECT_EQ((file.size() - values.size()) % 64, 0u) << "NumPy aligns the data";
  }
  expect_error(ErrorCode::Unsupported, "got BF16", [] { return to_npy({DType::BF16, {0}, {}}); });
}

}  // namespace
}  // namespace driftless::store
