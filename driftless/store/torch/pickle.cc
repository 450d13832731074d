// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/torch/pickle.h"

#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/store/torch/pickle_objects.h"

namespace driftless::store {
namespace {

/// More values than any checkpoint of this field has, and few enough to keep in memory.
constexpr size_t kMaxValues = size_t{1} << 20;

enum class Opcode : uint8_t {
  Mark = '(',
  Stop = '.',
  BinInt = 'J',
  BinInt1 = 'K',
  BinInt2 = 'M',
  None = 'N',
  BinPersId = 'Q',
  Reduce = 'R',
  BinUnicode = 'X',
  Append = 'a',
  Build = 'b',
  Global = 'c',
  Appends = 'e',
  BinGet = 'h',
  LongBinGet = 'j',
  BinPut = 'q',
  LongBinPut = 'r',
  SetItem = 's',
  Tuple = 't',
  SetItems = 'u',
  EmptyDict = '}',
  EmptyList = ']',
  EmptyTuple = ')',
  BinFloat = 'G',
  Proto = 0x80,
  NewObj = 0x81,
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  NewTrue = 0x88,
  NewFalse = 0x89,
  Long1 = 0x8a,
  // Since protocol 3.
  BinBytes = 'B',
  ShortBinBytes = 'C',
  // Since protocol 4.
  ShortBinUnicode = 0x8c,
  BinUnicode8 = 0x8d,
  BinBytes8 = 0x8e,
  StackGlobal = 0x93,
  Memoize = 0x94,
  Frame = 0x95,
};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::string_view where)
      : bytes_(bytes), where_(where) {}

  Pickle run() {
    while (true) {
      const auto opcode = Opcode{read<uint8_t>()};
      if (opcode == Opcode::Stop) break;
      if (!make_value(opcode) && !use_memo(opcode) && !fill_container(opcode)) unknown(opcode);
    }
    DRIFTLESS_REQUIRE(stack_.size() == 1 && marks_.empty() && at_ == bytes_.size(),
                      ErrorCode::BadFile, where_, ": malformed pickle; got ", stack_.size(),
                      " values and ", bytes_.size() - at_,
                      " bytes left at the end, expected 1 and 0");
    pickle_.root = stack_.back();
    return std::move(pickle_);
  }

 private:
  /// Opcodes that push a value. False where the opcode is none of them.
  bool make_value(Opcode opcode) {
    switch (opcode) {
      case Opcode::None:
        return push(PickleNone{});
      case Opcode::NewTrue:
        return push(true);
      case Opcode::NewFalse:
        return push(false);
      case Opcode::BinInt:
        return push(int64_t{read<int32_t>()});
      case Opcode::BinInt1:
        return push(int64_t{read<uint8_t>()});
      case Opcode::BinInt2:
        return push(int64_t{read<uint16_t>()});
      case Opcode::Long1:
        return push(read_long());
      case Opcode::BinFloat:
        return push(std::bit_cast<double>(__builtin_bswap64(read<uint64_t>())));
      case Opcode::BinUnicode:
        return push(read_text(read<uint32_t>()));
      case Opcode::ShortBinUnicode:
        return push(read_text(read<uint8_t>()));
      case Opcode::BinUnicode8:
        return push(read_text(read<uint64_t>()));
      case Opcode::ShortBinBytes:
        return push_skipped(read<uint8_t>());
      case Opcode::BinBytes:
        return push_skipped(read<uint32_t>());
      case Opcode::BinBytes8:
        return push_skipped(read<uint64_t>());
      case Opcode::EmptyDict:
        return push(PickleDict{});
      case Opcode::EmptyList:
        return push(PickleList{});
      case Opcode::EmptyTuple:
        return push(PickleTuple{});
      case Opcode::Tuple:
        return push(PickleTuple{pop_to_mark()});
      case Opcode::Tuple1:
        return push(PickleTuple{pop_count(1)});
      case Opcode::Tuple2:
        return push(PickleTuple{pop_count(2)});
      case Opcode::Tuple3:
        return push(PickleTuple{pop_count(3)});
      default:
        return make_object(opcode);
    }
  }

  /// Opcodes that name, call and describe objects.
  bool make_object(Opcode opcode) {
    switch (opcode) {
      case Opcode::Global: {
        const std::string_view module = read_line();
        return push(find_global(module, read_line(), where_));
      }
      case Opcode::StackGlobal: {
        const auto names = pop_count(2);
        const auto module = as<std::string_view>(names[0], "a module's name");
        return push(find_global(module, as<std::string_view>(names[1], "a name"), where_));
      }
      case Opcode::Reduce:
      case Opcode::NewObj: {
        const auto operands = pop_count(2);
        const auto global = as<PickleGlobal>(operands[0], "a global");
        return push(call_global(pickle_, global, as<PickleTuple>(operands[1], "a tuple"), where_));
      }
      case Opcode::BinPersId: {
        const auto operand = pop_count(1);
        return push(storage_of(pickle_, as<PickleTuple>(operand[0], "a tuple"), where_));
      }
      default:
        return false;
    }
  }

  bool use_memo(Opcode opcode) {
    switch (opcode) {
      case Opcode::BinPut:
        return store_memo(read<uint8_t>());
      case Opcode::LongBinPut:
        return store_memo(read<uint32_t>());
      case Opcode::Memoize:
        return store_memo(static_cast<uint32_t>(memo_.size()));
      case Opcode::BinGet:
        return load_memo(read<uint8_t>());
      case Opcode::LongBinGet:
        return load_memo(read<uint32_t>());
      default:
        return false;
    }
  }

  bool fill_container(Opcode opcode) {
    switch (opcode) {
      case Opcode::Proto: {
        const int version = read<uint8_t>();
        DRIFTLESS_REQUIRE(version >= 2 && version <= 4, ErrorCode::Unsupported, where_,
                          ": pickle protocol; got ", version,
                          ", expected 2, the default of torch.save, to 4");
        return true;
      }
      case Opcode::Frame:  // a hint for readers of streams
        read<uint64_t>();
        return true;
      case Opcode::Mark:
        require_room(marks_.size());
        marks_.push_back(stack_.size());
        return true;
      case Opcode::Append:
        return append(pop_count(1));
      case Opcode::Appends:
        return append(pop_to_mark());
      case Opcode::SetItem:
        return set_items(pop_count(2));
      case Opcode::SetItems:
        return set_items(pop_to_mark());
      case Opcode::Build:
        return build();
      default:
        return false;
    }
  }

  bool append(const std::vector<PickleRef>& items) {
    auto& list = as<PickleList>(top(), "a list").items;
    list.insert(list.end(), items.begin(), items.end());
    return true;
  }

  bool set_items(const std::vector<PickleRef>& items) {
    DRIFTLESS_REQUIRE(items.size() % 2 == 0, ErrorCode::BadFile, where_,
                      ": malformed pickle; a dictionary gets a key without a value");
    auto& dict = as<PickleDict>(top(), "a dictionary").items;
    for (size_t i = 0; i < items.size(); i += 2) dict.emplace_back(items[i], items[i + 1]);
    return true;
  }

  /// Attributes of a dictionary (PyTorch's version numbers) or of a skipped object are dropped.
  bool build() {
    pop_count(1);
    const PickleValue& target = pickle_.values[top()];
    DRIFTLESS_REQUIRE(
        std::holds_alternative<PickleDict>(target) || std::holds_alternative<PickleOpaque>(target),
        ErrorCode::Unsupported, where_,
        ": the pickle sets the state of something that is neither a dictionary nor a "
        "known object");
    return true;
  }

  /// Bytes: parts of random states, never of a tensor.
  bool push_skipped(size_t length) {
    read_text(length);
    return push(PickleOpaque{});
  }
  bool push(PickleValue value) {
    require_room(pickle_.values.size());
    pickle_.values.push_back(std::move(value));
    return push_ref(static_cast<PickleRef>(pickle_.values.size() - 1));
  }
  bool push_ref(PickleRef ref) {
    require_room(stack_.size());
    stack_.push_back(ref);
    return true;
  }

  PickleRef top() {
    DRIFTLESS_REQUIRE(stack_.size() > floor(), ErrorCode::BadFile, where_,
                      ": malformed pickle; the stack is empty at byte ", at_);
    return stack_.back();
  }
  std::vector<PickleRef> pop_count(size_t count) {
    DRIFTLESS_REQUIRE(stack_.size() - floor() >= count, ErrorCode::BadFile, where_,
                      ": malformed pickle; the stack is empty at byte ", at_);
    return pop_from(stack_.size() - count);
  }
  std::vector<PickleRef> pop_to_mark() {
    DRIFTLESS_REQUIRE(!marks_.empty(), ErrorCode::BadFile, where_,
                      ": malformed pickle; no mark at byte ", at_);
    const size_t from = marks_.back();
    marks_.pop_back();
    return pop_from(from);
  }
  std::vector<PickleRef> pop_from(size_t from) {
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(from);
    std::vector<PickleRef> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }
  /// Values below the last mark are out of reach.
  [[nodiscard]] size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  bool store_memo(uint32_t index) {
    memo_[index] = top();
    return true;
  }
  bool load_memo(uint32_t index) {
    const auto found = memo_.find(index);
    DRIFTLESS_REQUIRE(found != memo_.end(), ErrorCode::BadFile, where_,
                      ": malformed pickle; nothing is stored under memo ", index);
    return push_ref(found->second);
  }

  template <class T>
  T& as(PickleRef ref, std::string_view expected) {
    T* value = std::get_if<T>(&pickle_.values[ref]);
    DRIFTLESS_REQUIRE(value != nullptr, ErrorCode::BadFile, where_,
                      ": malformed pickle before byte ", at_, "; expected ", expected);
    return *value;
  }

  std::string_view read_text(size_t length) {
    DRIFTLESS_REQUIRE(length <= bytes_.size() - at_, ErrorCode::BadFile, where_,
                      ": pickle is cut short; got ", bytes_.size() - at_, " bytes, expected ",
                      length);
    const auto* start = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += length;
    return {start, length};
  }
  template <class Number>
  Number read() {
    Number value{};
    std::memcpy(&value, read_text(sizeof(Number)).data(), sizeof(Number));
    return value;
  }
  std::string_view read_line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_,
                                bytes_.size() - at_);
    const size_t length = rest.find('\n');
    DRIFTLESS_REQUIRE(length != std::string_view::npos, ErrorCode::BadFile, where_,
                      ": pickle is cut short inside a global's name");
    at_ += length + 1;
    return rest.substr(0, length);
  }
  /// Two's complement, little-endian, of up to 255 bytes.
  PickleValue read_long() {
    const std::string_view digits = read_text(read<uint8_t>());
    if (digits.size() > sizeof(int64_t)) return PickleOpaque{};
    const bool is_negative = !digits.empty() && (digits.back() & 0x80) != 0;
    uint64_t value = is_negative ? ~uint64_t{0} : 0;
    std::memcpy(&value, digits.data(), digits.size());
    return static_cast<int64_t>(value);
  }

  void require_room(size_t count) const {
    DRIFTLESS_REQUIRE(count < kMaxValues, ErrorCode::Unsupported, where_,
                      ": pickle has too many values; expected at most ", kMaxValues);
  }
  [[noreturn]] void unknown(Opcode opcode) const {
    const char character = static_cast<char>(opcode);
    fail(ErrorCode::Unsupported, where_, ": pickle opcode ", quote({&character, 1}), " at byte ",
         at_ - 1, " is not one that tensors and containers need; nothing was run");
  }

  std::span<const std::byte> bytes_;
  std::string_view where_;
  size_t at_ = 0;
  Pickle pickle_{};
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;  // stack heights
  std::unordered_map<uint32_t, PickleRef> memo_;
};

}  // namespace

Pickle parse_pickle(std::span<const std::byte> bytes, std::string_view where) {
  return Machine(bytes, where).run();
}

const PickleValue* find_item(const Pickle& pickle, const PickleValue& value, std::string_view key) {
  const auto* dict = std::get_if<PickleDict>(&value);
  if (dict == nullptr) return nullptr;
  for (const auto& [name, item] : dict->items) {
    const auto* text = std::get_if<std::string_view>(&pickle.at(name));
    if (text != nullptr && *text == key) return &pickle.at(item);
  }
  return nullptr;
}

}  // namespace driftless::store
