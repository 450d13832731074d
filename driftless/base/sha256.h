// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): the identity of a file in a result record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace driftless {

/// Of bytes that come in parts.
class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  /// 64 hexadecimal digits of all bytes so far.
  [[nodiscard]] std::string hex() const;

 private:
  static constexpr size_t kBlockBytes = 64;

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> rest_{};  // the bytes after the last whole block
  uint64_t size_ = 0;
};

/// 64 hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);

/// Of a file's bytes. Throws Io as read_file does.
std::string sha256_of_file(const std::filesystem::path& path);

/// Of a file's bytes, or of the names and hashes of all files in a folder. Throws Io.
std::string sha256_of_path(const std::filesystem::path& path);

}  // namespace driftless
