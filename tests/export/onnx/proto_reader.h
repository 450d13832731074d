// SPDX-License-Identifier: Apache-2.0
// Reads the wire format of protocol buffers back, written apart from the exporter's writer.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::exporter::testing {

struct ProtoField {
  uint64_t number = 0;  ///< a varint, or the bits of a float
  std::string_view bytes{};
};

/// The fields of a message by their numbers. Throws where bytes are left over or missing.
class Proto {
 public:
  explicit Proto(std::string_view data) {
    while (!data.empty()) {
      const uint64_t key = varint(data);
      ProtoField field;
      switch (key & 7) {
        case 0:
          field.number = varint(data);
          break;
        case 2:
          field.bytes = take(data, varint(data));
          break;
        case 5: {
          uint32_t bits = 0;
          std::memcpy(&bits, take(data, 4).data(), 4);
          field.number = bits;
          break;
        }
        default:
          throw std::runtime_error("a wire type that ONNX has not");
      }
      fields_[key >> 3].push_back(field);
    }
  }

  [[nodiscard]] const std::vector<ProtoField>& all(uint64_t number) const {
    static const std::vector<ProtoField> none;
    const auto found = fields_.find(number);
    return found == fields_.end() ? none : found->second;
  }
  [[nodiscard]] std::vector<Proto> messages(uint64_t number) const {
    std::vector<Proto> out;
    for (const ProtoField& field : all(number)) out.emplace_back(field.bytes);
    return out;
  }
  [[nodiscard]] std::vector<std::string> texts(uint64_t number) const {
    std::vector<std::string> out;
    for (const ProtoField& field : all(number)) out.emplace_back(field.bytes);
    return out;
  }
  [[nodiscard]] std::vector<int64_t> ints(uint64_t number) const {
    std::vector<int64_t> out;
    for (const ProtoField& field : all(number)) out.push_back(static_cast<int64_t>(field.number));
    return out;
  }
  /// The only value of a field; none is empty or zero.
  [[nodiscard]] std::string text(uint64_t number) const {
    return all(number).empty() ? "" : std::string(all(number).at(0).bytes);
  }
  [[nodiscard]] int64_t integer(uint64_t number) const {
    return all(number).empty() ? 0 : static_cast<int64_t>(all(number).at(0).number);
  }

 private:
  static std::string_view take(std::string_view& data, uint64_t count) {
    if (count > data.size()) throw std::runtime_error("a message that ends within a field");
    const std::string_view taken = data.substr(0, count);
    data.remove_prefix(count);
    return taken;
  }
  static uint64_t varint(std::string_view& data) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(data, 1)[0]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
      if (shift > 56) throw std::runtime_error("a number of more than 64 bits");
    }
  }

  std::map<uint64_t, std::vector<ProtoField>> fields_;
};

}  // namespace driftless::exporter::testing
