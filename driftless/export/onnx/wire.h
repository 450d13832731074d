// SPDX-License-Identifier: Apache-2.0
// A message in the wire format of protocol buffers, which is all of that format that ONNX needs:
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace driftless::exporter {

/// Fields lie in the order in which they are added; a repeated field is added once a value.
class WireMessage {
 public:
  void add_int(int field, int64_t value);
  void add_float(int field, float value);
  /// Text, raw bytes, or another message's bytes.
  void add_bytes(int field, std::string_view bytes);
  void add_message(int field, const WireMessage& message) { add_bytes(field, message.bytes_); }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void add_key(int field, uint64_t type);
  void add_varint(uint64_t value);

  std::string bytes_;
};

}  // namespace driftless::exporter
