// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): the identity of a file in a result record.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace driftless {

/// 64 hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);

/// Of a file's bytes. Throws Io as read_file does.
std::string sha256_of_file(const std::filesystem::path& path);

/// Of a file's bytes, or of the names and hashes of all files in a folder. Throws Io.
std::string sha256_of_path(const std::filesystem::path& path);

}  // namespace driftless
