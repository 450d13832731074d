// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/onnx/wire.h"

#include <bit>

namespace driftless::exporter {
namespace {

constexpr uint64_t kVarint = 0;
constexpr uint64_t kLengthDelimited = 2;
constexpr uint64_t kFourBytes = 5;

}  // namespace

void WireMessage::add_varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void WireMessage::add_key(int field, uint64_t type) {
  add_varint(static_cast<uint64_t>(field) << 3 | type);
}

void WireMessage::add_int(int field, int64_t value) {
  add_key(field, kVarint);
  add_varint(static_cast<uint64_t>(value));  // of negative values the two's complement
}

void WireMessage::add_float(int field, float value) {
  add_key(field, kFourBytes);
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift);
}

void WireMessage::add_bytes(int field, std::string_view bytes) {
  add_key(field, kLengthDelimited);
  add_varint(bytes.size());
  bytes_ += bytes;
}

}  // namespace driftless::exporter
