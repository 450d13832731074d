// SPDX-License-Identifier: Apache-2.0
// One writer at a time in a folder.
#pragma once

#include <filesystem>
#include <string_view>

namespace driftless {

/// Holds a folder for as long as it lives. A process that was killed holds none, and neither does
/// one on a file system without locks for folders.
class FolderLock {
 public:
  /// Throws Io, with `hint` at the end, where another one holds the folder.
  FolderLock(const std::filesystem::path& folder, std::string_view hint);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace driftless
