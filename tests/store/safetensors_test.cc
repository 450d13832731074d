// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/safetensors.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/store/safetensors_header.h"

#include "tests/testing/bytes.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using driftless::testing::little_endian;
using driftless::testing::to_bytes;

std::string file_text(const std::string& header, const std::string& data) {
  return little_endian(uint64_t{header.size()}) + header + data;
}

Safetensors parse(const std::string& header, const std::string& data) {
  return {to_bytes(file_text(header, data)), "m.safetensors"};
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

void expect_refused(const std::string& word, const std::string& header, const std::string& data) {
  expect_error(ErrorCode::BadFile, word, [&] { parse(header, data); });
  expect_error(ErrorCode::BadFile, "m.safetensors: ", [&] { parse(header, data); });
}

TEST(Safetensors, ReadsAFileMadeByHand) {
  const std::string data = little_endian(1.5f) + little_endian(-2.0f) + "\x07";
  const auto file = parse(R"({"__metadata__":{"k":"v"},"b":)" + entry("U8", "[1]", "[8,9]") +
                              R"(,"a":)" + entry("F32", "[2,1]", "[0,8]") + "}  ",
                          data);
  EXPECT_EQ(file.metadata(), (Metadata{{"k", "v"}}));
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors().at("a").shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(to_float32(file.tensors().at("a"), ""), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(file.tensors().at("b").bytes[0], std::byte{7});
}

TEST(Safetensors, EmptyAndScalarTensorsAreValid) {
  const auto file = parse(R"({"none":)" + entry("F32", "[0,3]", "[0,0]") + R"(,"one":)" +
                              entry("F32", "[]", "[0,4]") + "}",
                          little_endian(3.0f));
  EXPECT_TRUE(file.tensors().at("none").bytes.empty());
  EXPECT_EQ(to_float32(file.tensors().at("one"), ""), std::vector<float>{3.0f});
  EXPECT_TRUE(parse("{}", "").tensors().empty());
}

TEST(Safetensors, WritesAlignedAndReadsBack) {
  const driftless::testing::TempDir dir;
  const auto path = dir.path() / "out.safetensors";
  const auto bytes = to_bytes("0123456789abcdef");
  const std::span<const std::byte> all = bytes;
  std::map<std::string, TensorView> tensors;
  for (const DTypeInfo& row : kDTypes)
    tensors[std::string(row.name)] = {row.dtype, {1, 1}, all.first(size_t(row.size_bytes))};
  write_safetensors(path, tensors, {{"config", "{\"a\": 1}"}});
  const auto file = read_safetensors(path);
  EXPECT_EQ(file.metadata().at("config"), "{\"a\": 1}");
  ASSERT_EQ(file.tensors().size(), kDTypes.size());
  const std::byte* start = file.tensors().at("F64").bytes.data();
  for (const auto& [name, view] : tensors) {
    const TensorView& read = file.tensors().at(name);
    EXPECT_EQ(read.dtype, view.dtype);
    EXPECT_EQ(read.shape, view.shape);
    EXPECT_TRUE(
        std::equal(read.bytes.begin(), read.bytes.end(), view.bytes.begin(), view.bytes.end()));
    EXPECT_EQ((read.bytes.data() - start) % info(view.dtype).size_bytes, 0) << name;
  }
}

TEST(Safetensors, WriterRefusesInconsistentViews) {
  const driftless::testing::TempDir dir;
  const auto bytes = to_bytes("0123");
  const auto write = [&](const std::string& name, TensorView view) {
    write_safetensors(dir.path() / "out", {{name, view}}, {});
  };
  expect_error(ErrorCode::InvalidArgument, "do not match", [&] {
    write("a", {DType::F32, {2}, bytes});
  });
  expect_error(ErrorCode::InvalidArgument, "negative", [&] {
    write("a", {DType::F32, {-1}, bytes});
  });
  expect_error(ErrorCode::InvalidArgument, "__metadata__", [&] {
    write("__metadata__", {DType::F32, {1}, bytes});
  });
  expect_error(ErrorCode::InvalidArgument, "UTF-8", [&] {
    write("\xff", {DType::F32, {1}, bytes});
  });
  EXPECT_EQ(dir.entry_count(), 0);
}

TEST(Safetensors, HeaderMustFitTheFile) {
  const auto refuse = [](const std::string& word, const std::string& file) {
    expect_error(ErrorCode::BadFile, word, [&] { Safetensors(to_bytes(file), "m"); });
  };
  refuse("too short", "");
  refuse("too short", "1234567");
  refuse("header does not fit", little_endian(uint64_t{3}) + "{}");
  refuse("header does not fit", little_endian(~uint64_t{0}) + "{}");
  refuse("not valid JSON", little_endian(uint64_t{0}));
  refuse("not valid JSON", little_endian(uint64_t{1}) + "{}");
  refuse("not a JSON object", little_endian(uint64_t{2}) + "[]");
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole =
      file_text(R"({"a":)" + entry("F32", "[2]", "[0,8]") + "}", std::string(8, 'x'));
  EXPECT_NO_THROW(Safetensors(to_bytes(whole), "m"));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(Safetensors(to_bytes(whole.substr(0, length)), "m"), Error) << length;
}

TEST(Safetensors, OffsetsMustCoverTheDataOnce) {
  const std::string data(8, 'x');
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":)" + entry("U8", "[4]", a) + R"(,"b":)" + entry("U8", "[4]", b) + "}";
  };
  EXPECT_NO_THROW(parse(two("[4,8]", "[0,4]"), data));
  expect_refused("overlaps", two("[0,4]", "[0,4]"), data);
  expect_refused("overlaps", two("[0,4]", "[3,7]"), data);
  expect_refused("gap", two("[0,4]", "[5,9]"), data + "x");
  expect_refused("do not cover", two("[0,4]", "[4,8]"), data + "x");
  expect_refused("do not cover", "{}", "x");
  expect_refused("outside the file", two("[0,4]", "[5,9]"), data);
  expect_refused("outside the file", two("[0,4]", "[8,4]"), data);
  expect_refused("outside the file", two("[0,4]", "[18446744073709551612,18446744073709551615]"),
                 data);
}

TEST(Safetensors, EntriesAreCheckedFieldByField) {
  const std::string data(4, 'x');
  const auto one = [](const std::string& value) { return R"({"a":)" + value + "}"; };
  expect_refused("size does not match", one(entry("F32", "[2]", "[0,4]")), data);
  expect_refused("size does not match", one(entry("F32", "[4611686018427387904,4]", "[0,4]")),
                 data);
  expect_refused("size does not match", one(entry("F32", "[4294967296,4294967296,2]", "[0,4]")),
                 data);
  expect_refused("too large", one(entry("F32", "[9223372036854775808]", "[0,4]")), data);
  expect_refused("expected an integer", one(entry("F32", "[-1]", "[0,4]")), data);
  expect_refused("expected an integer", one(entry("F32", "[1.0]", "[0,4]")), data);
  expect_refused("shape is not an array", one(entry("F32", "1", "[0,4]")), data);
  expect_refused("shape is not an array", one(entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]")), data);
  expect_refused("not a pair", one(entry("F32", "[1]", "[0,4,4]")), data);
  expect_refused("expected an integer", one(entry("F32", "[1]", "[0,\"4\"]")), data);
  expect_refused("missing key 'dtype'", one(R"({"shape":[1],"data_offsets":[0,4]})"), data);
  expect_refused("missing key 'data_offsets'",
                 one(R"({"dtype":"F32","shape":[1],"data_offset":[0,4]})"), data);
  expect_refused("unknown key", one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})"),
                 data);
  expect_refused("dtype is not a string", one(R"({"dtype":4,"shape":[1],"data_offsets":[0,4]})"),
                 data);
  expect_refused("entry is not an object", one("[]"), data);
  expect_refused(
      "'a' appears twice",
      R"({"a":)" + entry("U8", "[4]", "[0,4]") + R"(,"a":)" + entry("U8", "[4]", "[0,4]") + "}",
      data);
  expect_refused("metadata 'k' is not a string", R"({"__metadata__":{"k":1}})", "");
  expect_refused("__metadata__ is not an object", R"({"__metadata__":[]})", "");
  expect_error(ErrorCode::Unsupported, "unknown dtype; got 'F4'",
               [&] { parse(one(entry("F4", "[8]", "[0,4]")), data); });
}

TEST(Safetensors, MessagesStayOnOneLine) {
  try {
    parse(R"({"a\nb":)" + entry("F32", "[2]", "[0,4]") + "}", "xxxx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST(Safetensors, MissingFileIsAnIoError) {
  const driftless::testing::TempDir dir;
  expect_error(ErrorCode::Io, "absent", [&] { read_safetensors(dir.path() / "absent"); });
}

TEST(Safetensors, AHeaderIsCheckedBeforeTheRestIsRead) {
  const driftless::testing::TempDir dir;
  const auto path = dir.path() / "huge";
  constexpr uint64_t kBytes = uint64_t{1} << 40;  // more than memory holds; the disk has a hole
  const std::string shape = "[" + std::to_string(kBytes) + "]";
  const std::string offsets = "[0," + std::to_string(kBytes) + "]";
  const std::string header =
      R"({"__metadata__":{"k":"v"},"a":)" + entry("U8", shape, offsets) + "}";
  write_file_atomic(path, file_text(header, ""));
  std::error_code none;
  std::filesystem::resize_file(path, 8 + header.size() + kBytes, none);
  if (none) GTEST_SKIP() << "no file of 1 TiB here";
  const SafetensorsHeader read = read_safetensors_header(path);
  EXPECT_EQ(read.metadata.at("k"), "v");
  EXPECT_EQ(read.tensors.at("a").shape, std::vector<int64_t>{int64_t{1} << 40});
  EXPECT_TRUE(read.tensors.at("a").bytes.empty());
  std::filesystem::resize_file(path, 8 + header.size() + kBytes + 1);
  expect_error(ErrorCode::BadFile, "do not cover the file", [&] { read_safetensors(path); });
}

TEST(Safetensors, AHeaderTakesTimeInProportion) {
  // 2.5 MB, which take over a minute where a repeated key is looked for among all before it.
  constexpr int kTensors = 40000;
  std::string header = "{";
  for (int i = 0; i < kTensors; ++i)
    header += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" +
              entry("U8", "[1]", "[" + std::to_string(i) + "," + std::to_string(i + 1) + "]");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse(header + "}", std::string(kTensors, 'x')).tensors().size(), size_t{kTensors});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace driftless::store
