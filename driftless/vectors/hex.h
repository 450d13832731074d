// SPDX-License-Identifier: Apache-2.0
// Bytes, codes and the bits of floats as the hexadecimal digits of a case. Most significant digit
// first within a number, numbers of a list in their order without anything between.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::vectors {

/// `digits` hexadecimal digits of a number, appended.
void put_hex(uint32_t value, int digits, std::string& text);

std::string hex_of_floats(std::span<const float> values);
std::string hex_of_bytes(std::span<const uint8_t> values);
std::string hex_of_sums(std::span<const int32_t> values);

/// The numbers of a list, `digits` each. Throws BadFile where the text is none, or has another
/// count than `count`.
std::vector<uint32_t> numbers_of_hex(std::string_view text, int digits, int64_t count);
std::vector<float> floats_of_hex(std::string_view text, int64_t count);
std::vector<uint8_t> bytes_of_hex(std::string_view text, int64_t count);

}  // namespace driftless::vectors
