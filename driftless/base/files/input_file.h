// SPDX-License-Identifier: Apache-2.0
// The one place that opens what the program reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace driftless {

/// A regular file, open for reading from its start.
class InputFile {
 public:
  /// Throws Io where the file is missing, may not be read, or is a folder, pipe or device; waits
  /// for none of them.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// As the file system states it, which is 0 for files that the system makes up, as in /proc.
  [[nodiscard]] uint64_t size() const { return size_; }

  /// Reads on; the number of bytes is that of the span, or less at the end of the file. Throws Io.
  size_t read(std::span<std::byte> bytes);
  /// Reads on; throws Io where the file ends before the span is full.
  void read_all(std::span<std::byte> bytes);

 private:
  std::filesystem::path path_;
  int descriptor_;
  uint64_t size_ = 0;
};

}  // namespace driftless
