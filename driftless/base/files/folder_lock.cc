// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/folder_lock.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "driftless/base/error.h"

namespace driftless {

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view hint)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0)
    fail(ErrorCode::Io, folder.string(), ": cannot open the folder; got ", std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  fail(ErrorCode::Io, folder.string(), ": another process is writing there; ", hint);
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace driftless
