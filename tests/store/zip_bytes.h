// SPDX-License-Identifier: Apache-2.0
// Zip archives as byte strings, entries stored without compression.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/testing/bytes.h"

namespace driftless::store::testing {

struct ZipEntry {
  std::string name;
  std::string data;
  uint16_t method = 0;      // 0 stored, 8 deflated
  uint32_t size_delta = 0;  // added to the size that the headers claim
  uint32_t crc_flip = 0;    // spoils the checksum
};

inline uint32_t crc32_of(const std::string& data) {
  uint32_t crc = ~0u;
  for (const char c : data) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

/// The fields that a local header and a central directory entry share.
inline std::string zip_fields(const ZipEntry& entry) {
  using driftless::testing::little_endian;
  const auto size = static_cast<uint32_t>(entry.data.size()) + entry.size_delta;
  return little_endian(uint16_t{20}) + little_endian(uint16_t{0}) + little_endian(entry.method) +
         little_endian(uint32_t{0x21 << 16}) +
         little_endian(crc32_of(entry.data) ^ entry.crc_flip) + little_endian(size) +
         little_endian(size) + little_endian(static_cast<uint16_t>(entry.name.size())) +
         little_endian(uint16_t{0});
}

inline std::string zip_bytes(const std::vector<ZipEntry>& entries) {
  using driftless::testing::little_endian;
  std::string file;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    directory += "PK\x01\x02" + little_endian(uint16_t{20}) + zip_fields(entry) +
                 std::string(10, '\0') + little_endian(static_cast<uint32_t>(file.size())) +
                 entry.name;
    file += "PK\x03\x04" + zip_fields(entry) + entry.name + entry.data;
  }
  const auto count = little_endian(static_cast<uint16_t>(entries.size()));
  return file + directory + "PK\x05\x06" + std::string(4, '\0') + count + count +
         little_endian(static_cast<uint32_t>(directory.size())) +
         little_endian(static_cast<uint32_t>(file.size())) + std::string(2, '\0');
}

}  // namespace driftless::store::testing
