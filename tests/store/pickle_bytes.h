// SPDX-License-Identifier: Apache-2.0
// Pickles as byte strings: the opcodes of protocol 2 that PyTorch writes, by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tests/testing/bytes.h"

namespace driftless::store::testing {

namespace op {

using driftless::testing::little_endian;

inline std::string text(const std::string& value) {
  return "X" + little_endian(static_cast<uint32_t>(value.size())) + value;
}
inline std::string integer(int32_t value) { return "J" + little_endian(value); }
inline std::string real(double value) {
  std::string bytes = little_endian(value);
  std::reverse(bytes.begin(), bytes.end());
  return "G" + bytes;
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string tuple(const std::string& items) { return "(" + items + "t"; }
inline std::string integers(std::initializer_list<int32_t> values) {
  std::string items;
  for (const int32_t value : values) items += integer(value);
  return tuple(items);
}
inline std::string put(uint8_t index) { return {'q', static_cast<char>(index)}; }
inline std::string get(uint8_t index) { return {'h', static_cast<char>(index)}; }
/// A plain dictionary; `items` is keys and values in turn.
inline std::string dict(const std::string& items) { return "}(" + items + "u"; }
inline std::string ordered_dict(const std::string& items) {
  return global("collections", "OrderedDict") + ")R(" + items + "u";
}
inline std::string storage(const std::string& type, const std::string& key, int32_t count) {
  return tuple(text("storage") + global("torch", type) + text(key) + text("cuda:0") +
               integer(count)) +
         "Q";
}
inline std::string tensor(const std::string& storage, int32_t offset,
                          std::initializer_list<int32_t> shape,
                          std::initializer_list<int32_t> strides) {
  const std::string hooks = global("collections", "OrderedDict") + ")R";
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple(storage + integer(offset) + integers(shape) + integers(strides) + "\x89" + hooks) +
         "R";
}
inline std::string whole(const std::string& body) { return "\x80\x02" + body + "."; }

}  // namespace op

}  // namespace driftless::store::testing
