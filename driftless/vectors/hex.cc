// SPDX-License-Identifier: Apache-2.0
#include "driftless/vectors/hex.h"

#include <bit>

#include "driftless/base/error.h"

namespace driftless::vectors {
namespace {

constexpr int kFloatDigits = 8;

uint32_t digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<uint32_t>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<uint32_t>(letter - 'a' + 10);
  fail(ErrorCode::BadFile, "got '", std::string(1, letter), "', expected a digit 0 to 9, a to f");
}

}  // namespace

void put_hex(uint32_t value, int digits, std::string& text) {
  for (int at = digits - 1; at >= 0; --at)
    text.push_back("0123456789abcdef"[value >> (4 * at) & 15]);
}

std::string hex_of_floats(std::span<const float> values) {
  std::string text;
  for (const float value : values) put_hex(std::bit_cast<uint32_t>(value), kFloatDigits, text);
  return text;
}

std::string hex_of_bytes(std::span<const uint8_t> values) {
  std::string text;
  for (const uint8_t value : values) put_hex(value, 2, text);
  return text;
}

std::string hex_of_sums(std::span<const int32_t> values) {
  std::string text;
  for (const int32_t value : values) put_hex(static_cast<uint32_t>(value), kFloatDigits, text);
  return text;
}

std::vector<uint32_t> numbers_of_hex(std::string_view text, int digits, int64_t count) {
  const auto width = static_cast<size_t>(digits);
  DRIFTLESS_REQUIRE(text.size() % width == 0 && text.size() / width == static_cast<size_t>(count),
                    ErrorCode::BadFile, "got ", text.size(), " digits, expected ", count,
                    " numbers of ", digits);
  std::vector<uint32_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < text.size(); ++i)
    numbers[i / width] = numbers[i / width] << 4 | digit_of(text[i]);
  return numbers;
}

std::vector<float> floats_of_hex(std::string_view text, int64_t count) {
  std::vector<float> values;
  for (const uint32_t bits : numbers_of_hex(text, kFloatDigits, count))
    values.push_back(std::bit_cast<float>(bits));
  return values;
}

std::vector<uint8_t> bytes_of_hex(std::string_view text, int64_t count) {
  std::vector<uint8_t> values;
  for (const uint32_t byte : numbers_of_hex(text, 2, count))
    values.push_back(static_cast<uint8_t>(byte));
  return values;
}

}  // namespace driftless::vectors
