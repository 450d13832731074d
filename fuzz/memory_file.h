// SPDX-License-Identifier: Apache-2.0
// Bytes under a name, for readers that want a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace driftless::fuzz {

class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace driftless::fuzz
