// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/pickle.h"

#include <string>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

#include "tests/store/pickle_bytes.h"
#include "tests/testing/bytes.h"
#include "tests/testing/expect_error.h"

namespace driftless::store {
namespace {

using driftless::testing::expect_error;
using driftless::testing::little_endian;
using driftless::testing::to_bytes;
namespace op = testing::op;

/// Keeps the bytes that a pickle's text points into.
struct Parsed {
  explicit Parsed(const std::string& body)
      : bytes(to_bytes(op::whole(body))), pickle(parse_pickle(bytes, "p")) {}

  std::vector<std::byte> bytes;
  Pickle pickle;

  [[nodiscard]] const PickleValue& root() const { return pickle.at(pickle.root); }
};

void expect_bad_pickle(ErrorCode code, const std::string& word, const std::string& body) {
  expect_error(code, word, [&] { Parsed{body}; });
  expect_error(code, "p: ", [&] { Parsed{body}; });
}

template <class T>
T scalar(const std::string& body) {
  return std::get<T>(Parsed(body).root());
}

TEST(Pickle, ReadsScalars) {
  EXPECT_EQ(scalar<int64_t>(op::integer(-5)), -5);
  EXPECT_EQ(scalar<int64_t>("K\xff"), 255);
  EXPECT_EQ(scalar<int64_t>("M\x01\x02"), 0x0201);
  EXPECT_EQ(scalar<int64_t>(std::string("\x8a\x00", 2)), 0);
  EXPECT_EQ(scalar<int64_t>("\x8a\x01\xfe"), -2);
  EXPECT_EQ(scalar<int64_t>(std::string("\x8a\x05\x00\x00\x00\x00\x01", 7)), int64_t{1} << 32);
  EXPECT_EQ(scalar<int64_t>("\x8a\x08" + little_endian(INT64_MIN)), INT64_MIN);
  EXPECT_EQ(scalar<double>(op::real(-0.95)), -0.95);
  EXPECT_EQ(scalar<bool>("\x88"), true);
  EXPECT_EQ(scalar<bool>("\x89"), false);
  EXPECT_NO_THROW(scalar<PickleNone>("N"));
  EXPECT_NO_THROW(scalar<PickleOpaque>("\x8a\x09" + std::string(9, 'x')));
  const Parsed text(op::text("h\xc3\xa9"));
  EXPECT_EQ(std::get<std::string_view>(text.root()), "h\xc3\xa9");
}

TEST(Pickle, ReadsContainersAndMemo) {
  const Parsed parsed(op::dict(op::text("list") + "](K\x01K\x02" + std::string("eK\x03") + "a" +
                               op::put(7) + op::text("again") + op::get(7) + op::text("pair") +
                               "K\x04\x85" + op::text("three") + "NNN\x87"));
  const auto* list = find_item(parsed.pickle, parsed.root(), "list");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(std::get<PickleList>(*list).items.size(), 3u);
  EXPECT_EQ(find_item(parsed.pickle, parsed.root(), "again"), list);
  EXPECT_EQ(std::get<PickleTuple>(*find_item(parsed.pickle, parsed.root(), "pair")).items.size(),
            1u);
  EXPECT_EQ(std::get<PickleTuple>(*find_item(parsed.pickle, parsed.root(), "three")).items.size(),
            3u);
  EXPECT_EQ(find_item(parsed.pickle, parsed.root(), "absent"), nullptr);
  EXPECT_EQ(find_item(parsed.pickle, *list, "list"), nullptr);
}

TEST(Pickle, ReadsATensorAndAParameter) {
  const std::string tensor =
      op::tensor(op::storage("BFloat16Storage", "12", 10), 2, {2, 3}, {3, 1});
  const Parsed parsed(op::global("torch._utils", "_rebuild_parameter") +
                      op::tuple(tensor + "\x88" + op::ordered_dict("")) + "R");
  const auto& value = std::get<PickleTensor>(parsed.root());
  EXPECT_EQ(value.storage.dtype, DType::BF16);
  EXPECT_EQ(value.storage.key, "12");
  EXPECT_EQ(value.storage.element_count, 10);
  EXPECT_EQ(value.offset, 2);
  EXPECT_EQ(value.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(value.strides, (std::vector<int64_t>{3, 1}));
}

TEST(Pickle, ReadsProtocol4) {
  // Frames, short texts, globals from the stack, and a memo that numbers itself.
  const auto short_text = [](const std::string& text) {
    return "\x8c" + std::string(1, static_cast<char>(text.size())) + text + "\x94";
  };
  const std::string dict = short_text("collections") + short_text("OrderedDict") + "\x93\x94)R\x94";
  const std::string bytes = "C\x02xy" + std::string("B") + little_endian(uint32_t{1}) + "z\x86";
  const std::string body = "\x80\x04\x95" + little_endian(uint64_t{0}) + dict + "(" +
                           short_text("a") + "K\x07" + short_text("b") + op::get(4) +
                           short_text("rng") + bytes + "u.";
  const auto data = to_bytes(body);
  const Pickle pickle = parse_pickle(data, "p");
  const PickleValue& root = pickle.at(pickle.root);
  EXPECT_EQ(std::get<int64_t>(*find_item(pickle, root, "a")), 7);
  EXPECT_EQ(std::get<std::string_view>(*find_item(pickle, root, "b")), "a");
  expect_bad_pickle(ErrorCode::Unsupported, "'os.system'",
                    short_text("os") + short_text("system") + "\x93");
  expect_bad_pickle(ErrorCode::BadFile, "cut short", "\x8d" + little_endian(UINT64_MAX));
  const auto protocol5 = to_bytes("\x80\x05N.");
  expect_error(ErrorCode::Unsupported, "got 5", [&] { parse_pickle(protocol5, "p"); });
}

TEST(Pickle, StateOfDictionariesAndKnownObjectsIsDropped) {
  const Parsed dict(op::ordered_dict(op::text("a") + "K\x01") +
                    op::dict(op::text("_metadata") + "N") + "b");
  EXPECT_NE(find_item(dict.pickle, dict.root(), "a"), nullptr);
  const Parsed carry(op::global("models.eqr", "ModelCarry") + ")\x81" +
                     op::dict(op::text("steps") + "K\x01") + "b");
  EXPECT_TRUE(std::holds_alternative<PickleOpaque>(carry.root()));
}

TEST(Pickle, EveryOtherOpcodeIsRefusedByName) {
  const std::string known =
      "(.BCJKMNQRXabcehjqrstu}])G\x80\x81\x85\x86\x87\x88\x89\x8a\x8c\x8d\x8e\x93\x94\x95";
  int64_t refused = 0;
  for (int code = 0; code < 256; ++code) {
    const char character = static_cast<char>(code);
    if (known.find(character) != std::string::npos) continue;
    const std::string body = "N" + std::string(1, character) + std::string(300, '\0');
    expect_error(ErrorCode::Unsupported, "opcode", [&] { Parsed{body}; });
    ++refused;
  }
  EXPECT_EQ(refused, 256 - static_cast<int64_t>(known.size()));
  expect_bad_pickle(ErrorCode::Unsupported, "opcode 'i' at byte 3", "Nios\nsystem\n");
  expect_bad_pickle(ErrorCode::Unsupported, "opcode '\\x92'", "\x92");
}

TEST(Pickle, EveryOtherGlobalIsRefusedByName) {
  const std::pair<const char*, const char*> globals[] = {
      {"os", "system"},         {"posix", "system"},
      {"builtins", "eval"},     {"__builtin__", "getattr"},
      {"torch", "load"},        {"torch", "FloatStorag"},
      {"collections", "deque"}, {"torch._utils", "_rebuild_tensor"}};
  for (const auto& [module, name] : globals)
    expect_bad_pickle(ErrorCode::Unsupported, "'" + std::string(module) + "." + name + "'",
                      op::global(module, name) + op::tuple(op::text("rm -rf /")) + "R");
  expect_bad_pickle(ErrorCode::Unsupported, "global", "c" + std::string(1000, 'a') + "\n\n");
}

TEST(Pickle, StorageTypesCannotBeCalled) {
  expect_bad_pickle(ErrorCode::Unsupported, "torch.FloatStorage",
                    op::global("torch", "FloatStorage") + ")R");
}

TEST(Pickle, MalformedStreamsAreRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "0 values"},
      {"NN", "2 values"},
      {"(N", "1 values"},
      {"a", "stack is empty"},
      {"]Na(a", "stack is empty"},
      {"N(\x85", "stack is empty"},
      {"t", "no mark"},
      {"}(Nu", "key without a value"},
      {"NNa", "expected a list"},
      {"]NNs", "expected a dictionary"},
      {"N)R", "expected a global"},
      {op::global("collections", "OrderedDict") + "NR", "expected a tuple"},
      {op::global("collections", "OrderedDict") + "N\x85R", "made with arguments"},
      {"NQ", "expected a tuple"},
      {op::get(3), "memo 3"},
      {std::string("j\xff\xff\xff\x7f"), "memo 2147483647"},
      {"X\xff\xff\xff\xff", "cut short"},
      {std::string("J\x01"), "cut short"},
      {"cos", "cut short"},
      {"\x8a\x05x", "cut short"}};
  for (const auto& [body, word] : cases) expect_bad_pickle(ErrorCode::BadFile, word, body);
  expect_bad_pickle(ErrorCode::Unsupported, "protocol; got 5", "\x80\x05N");
  expect_bad_pickle(ErrorCode::Unsupported, "sets the state", "NNb");
  const auto trailing = to_bytes(op::whole("N") + "x");
  expect_error(ErrorCode::BadFile, "1 bytes left", [&] { parse_pickle(trailing, "p"); });
}

TEST(Pickle, EveryTruncationIsRefused) {
  const std::string whole = op::whole(op::ordered_dict(
      op::text("w") + op::tensor(op::storage("FloatStorage", "0", 6), 0, {2, 3}, {3, 1})));
  EXPECT_NO_THROW(parse_pickle(to_bytes(whole), "p"));
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto bytes = to_bytes(whole.substr(0, length));
    EXPECT_THROW(parse_pickle(bytes, "p"), Error) << length;
  }
}

TEST(Pickle, HostileTensorsAreRefused) {
  const std::string storage = op::storage("FloatStorage", "0", 6);
  const auto bad = ErrorCode::BadFile;
  constexpr int32_t kBig = INT32_MAX;
  EXPECT_NO_THROW(Parsed(op::tensor(storage, 5, {}, {})));
  EXPECT_NO_THROW(Parsed(op::tensor(storage, 6, {0, 9}, {1, 1})));
  EXPECT_NO_THROW(Parsed(op::tensor(storage, 0, {3, 2}, {1, 3})));
  expect_bad_pickle(bad, "larger than its storage", op::tensor(storage, 0, {7}, {1}));
  expect_bad_pickle(bad, "larger than its storage", op::tensor(storage, 0, {kBig}, {0}));
  expect_bad_pickle(bad, "larger than its storage",
                    op::tensor(storage, 0, {kBig, kBig, kBig}, {1, 1, 1}));
  expect_bad_pickle(bad, "outside its storage", op::tensor(storage, 1, {2, 3}, {3, 1}));
  expect_bad_pickle(bad, "outside its storage", op::tensor(storage, 6, {}, {}));
  expect_bad_pickle(bad, "outside its storage", op::tensor(storage, 0, {2}, {6}));
  expect_bad_pickle(bad, "outside its storage", op::tensor(storage, kBig, {2}, {kBig}));
  expect_bad_pickle(bad, "negative extent or stride", op::tensor(storage, 0, {-1}, {1}));
  expect_bad_pickle(bad, "negative extent or stride", op::tensor(storage, 0, {2}, {-1}));
  expect_bad_pickle(bad, "do not match", op::tensor(storage, -1, {2}, {1}));
  expect_bad_pickle(bad, "do not match", op::tensor(storage, 0, {2}, {1, 1}));
  expect_bad_pickle(
      bad, "too many dimensions",
      op::tensor(storage, 0, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
  expect_bad_pickle(bad, "wrong argument at position 0", op::tensor("N", 0, {1}, {1}));
  expect_bad_pickle(bad, "wrong argument at position 1",
                    op::global("torch._utils", "_rebuild_tensor_v2") + op::tuple(storage) + "R");
  expect_bad_pickle(bad, "_rebuild_parameter",
                    op::global("torch._utils", "_rebuild_parameter") + ")R");
}

TEST(Pickle, StridesThatOverflowAreRefused) {
  const auto long1 = [](int64_t value) { return "\x8a\x08" + little_endian(value); };
  const std::string storage = op::storage("FloatStorage", "0", 6);
  const auto tensor = [&](int64_t offset, int64_t stride) {
    return op::global("torch._utils", "_rebuild_tensor_v2") +
           op::tuple(storage + long1(offset) + op::integers({3}) + op::tuple(long1(stride)) +
                     "\x89N") +
           "R";
  };
  EXPECT_NO_THROW(Parsed(tensor(0, 2)));
  expect_bad_pickle(ErrorCode::BadFile, "outside its storage", tensor(0, INT64_MAX));
  expect_bad_pickle(ErrorCode::BadFile, "outside its storage", tensor(INT64_MAX, 1));
  expect_bad_pickle(ErrorCode::BadFile, "outside its storage",
                    tensor(INT64_MAX - 1, INT64_MAX / 2));
}

TEST(Pickle, HostileStoragesAreRefused) {
  const auto persistent = [](const std::string& items) { return op::tuple(items) + "Q"; };
  const std::string type = op::global("torch", "FloatStorage");
  const std::string place = op::text("0") + op::text("cpu");
  const auto bad = ErrorCode::BadFile;
  expect_bad_pickle(bad, "impossible size",
                    persistent(op::text("storage") + type + place + op::integer(-1)));
  expect_bad_pickle(
      bad, "impossible size",
      persistent(op::text("storage") + type + place + "\x8a\x08" + little_endian(INT64_MAX / 2)));
  expect_bad_pickle(bad, "no storage",
                    persistent(op::text("module") + type + place + op::integer(1)));
  expect_bad_pickle(bad, "no storage",
                    persistent(op::text("storage") + op::global("collections", "OrderedDict") +
                               place + op::integer(1)));
  expect_bad_pickle(bad, "persistent id", persistent(op::text("storage")));
  expect_bad_pickle(bad, "position 4",
                    persistent(op::text("storage") + type + place + op::real(1e300)));
}

TEST(Pickle, SharingDoesNotMultiply) {
  // Each tuple holds the one before it ten times: 10^60 leaves if it were expanded.
  std::string body = "N" + op::put(0);
  for (int level = 0; level < 60; ++level) {
    body += "(";
    for (int i = 0; i < 10; ++i) body += op::get(0);
    body += "t" + op::put(0);
  }
  const Parsed bomb("]" + std::string("(") + body + "e");
  EXPECT_LT(bomb.pickle.values.size(), 200u);
}

TEST(Pickle, CirclesAreHarmless) {
  const Parsed circle("]" + op::put(0) + op::get(0) + "a");
  EXPECT_EQ(std::get<PickleList>(circle.root()).items.at(0), circle.pickle.root);
}

TEST(Pickle, ValuesMarksAndStackAreBounded) {
  const size_t many = (size_t{1} << 20) + 1;
  expect_bad_pickle(ErrorCode::Unsupported, "too many values", std::string(many, 'N'));
  expect_bad_pickle(ErrorCode::Unsupported, "too many values", std::string(many, '('));
  std::string gets = "N" + op::put(0);
  for (size_t i = 0; i < many; ++i) gets += op::get(0);
  expect_bad_pickle(ErrorCode::Unsupported, "too many values", gets);
}

}  // namespace
}  // namespace driftless::store
