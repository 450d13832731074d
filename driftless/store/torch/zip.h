// SPDX-License-Identifier: Apache-2.0
// Zip archives whose entries are stored without compression, as PyTorch writes them. Read by
// libzip, and without it by a reader of our own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::store {

class ZipArchive {
 public:
  /// Throws Io or BadFile where the file is no readable archive.
  explicit ZipArchive(const std::filesystem::path& path);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  /// Names of all entries, in file order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// The bytes of an entry, its checksum checked. All reads together may not exceed the size of the
  /// archive, so entries that overlap cannot multiply. Throws BadFile for a missing, damaged or
  /// outsized entry, Unsupported for a compressed or encrypted one.
  std::vector<std::byte> read(std::string_view name);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
  std::string where_;
  std::vector<std::string> names_;
};

}  // namespace driftless::store
