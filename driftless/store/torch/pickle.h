// SPDX-License-Identifier: Apache-2.0
// A restricted unpickler. It knows the opcodes of protocols 2 to 4 that PyTorch writes, builds
// containers, numbers, text and tensor descriptions, and runs nothing: a global is a row of a fixed
// table, and "calling" it fills in a struct. Whatever is not in the tables is an error that names
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "driftless/store/tensor.h"

namespace driftless::store {

/// Index of a value inside its Pickle. Values refer to each other by index, so shared and circular
/// structures cost nothing and nothing here recurses.
using PickleRef = uint32_t;

struct PickleNone {};
/// An object that is recognized and skipped: carries, random states, NumPy arrays, integers beyond
/// 64 bits.
struct PickleOpaque {};
struct PickleTuple {
  std::vector<PickleRef> items;
};
struct PickleList {
  std::vector<PickleRef> items;
};
/// Keys in file order; a key may repeat.
struct PickleDict {
  std::vector<std::pair<PickleRef, PickleRef>> items;
};
/// A row of the table of allowed globals.
struct PickleGlobal {
  size_t row;
};
/// Raw values in the archive's entry data/KEY.
struct PickleStorage {
  DType dtype;
  std::string_view key;
  int64_t element_count;
};
/// Element (i, j, …) is the storage's element offset + i * strides[0] + j * strides[1] + …
struct PickleTensor {
  PickleStorage storage;
  int64_t offset;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

/// Text points into the pickle's bytes.
using PickleValue =
    std::variant<PickleNone, PickleOpaque, bool, int64_t, double, std::string_view, PickleTuple,
                 PickleList, PickleDict, PickleGlobal, PickleStorage, PickleTensor>;

struct Pickle {
  std::vector<PickleValue> values;
  PickleRef root;

  [[nodiscard]] const PickleValue& at(PickleRef ref) const { return values[ref]; }
};

/// Parses a whole pickle; the result's text points into `bytes`. A tensor's elements lie inside its
/// storage and are no more than the storage has. `where` starts every message. Throws BadFile for
/// malformed input, Unsupported for an opcode, global or storage type outside the tables.
Pickle parse_pickle(std::span<const std::byte> bytes, std::string_view where);

/// The value under a text key, or nullptr where the key is absent or `value` is no dictionary.
const PickleValue* find_item(const Pickle& pickle, const PickleValue& value, std::string_view key);

}  // namespace driftless::store
