// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/file.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driftless/base/error.h"

namespace driftless {
namespace {

/// Owns a POSIX file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Closes now and reports whether the system accepted everything written.
  [[nodiscard]] bool close() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

[[noreturn]] void fail_io(const std::filesystem::path& path, const char* what) {
  const int reason = errno;
  fail(ErrorCode::Io, path.string(), ": ", what, "; got ", std::strerror(reason));
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_io(path, "cannot open for reading");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_io(path, "cannot read the size");
  DRIFTLESS_REQUIRE(S_ISREG(status.st_mode), ErrorCode::Io, path.string(),
                    ": cannot read; got a folder or device, expected a regular file");
  std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io(path, "cannot read");
    DRIFTLESS_REQUIRE(got > 0, ErrorCode::Io, path.string(), ": cannot read; got ", filled,
                      " bytes, expected ", bytes.size(), "; the file shrank while being read");
    filled += static_cast<size_t>(got);
  }
  return bytes;
}

void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::string temporary = path.string() + ".tmp.XXXXXX";
  Descriptor file(::mkstemp(temporary.data()));
  if (file.get() < 0) fail_io(path, "cannot create a file beside it for writing");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool stored = write_all(file.get(), bytes) && ::fchmod(file.get(), 0666 & ~mask) == 0 &&
                      ::fsync(file.get()) == 0 && file.close();
  if (!stored || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    fail_io(path, "cannot write");
  }
}

void write_file_atomic(const std::filesystem::path& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace driftless
