// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/file.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/base/files/input_file.h"

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

/// The mode and owner of the file that is replaced; else what a new file gets.
bool set_rights(int fd, const std::optional<struct stat>& old) {
  if (!old) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return ::fchmod(fd, 0666 & ~mask) == 0;
  }
  // Only root may give files away, others at least to their groups; what fails stays as it is.
  if (::fchown(fd, old->st_uid, old->st_gid) != 0)
    static_cast<void>(!::fchown(fd, static_cast<uid_t>(-1), old->st_gid));
  return ::fchmod(fd, old->st_mode & 07777) == 0;
}

/// Makes a new name in the folder outlast a loss of power, where the system lets us.
bool sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.get() < 0 || ::fsync(opened.get()) == 0 || errno == EINVAL;
}

constexpr std::string_view kTemporary = ".tmp.XXXXXX";  // mkostemp fills in the last six

/// Removes what runs that were killed have left of this file. Who is writing holds a lock.
void remove_leftovers(const std::filesystem::path& target) {
  const std::string start = target.filename().string() + ".tmp.";
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  std::error_code error;
  using Walk = std::filesystem::directory_iterator;
  for (Walk entry(folder, error); !error && entry != Walk(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(start) || name.size() != start.size() + 6) continue;
    const Descriptor file(
        ::open(entry->path().c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (file.get() >= 0 && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      ::unlink(entry->path().c_str());
  }
}

/// A new file beside the target, locked where the file system has locks; `name` becomes its own.
int make_temporary(const std::filesystem::path& target, std::string& name) {
  for (;;) {
    name = target.string() + std::string(kTemporary);
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) return fd;
    static_cast<void>(::flock(fd, LOCK_EX));
    struct stat status {};
    if (::fstat(fd, &status) != 0 || status.st_nlink > 0) return fd;
    ::close(fd);  // taken for a leftover before it was locked
  }
}

void replace_file(const std::filesystem::path& path, const std::optional<struct stat>& old,
                  std::span<const std::byte> bytes) {
  const std::filesystem::path target = follow_links(path);
  if (old && ::access(target.c_str(), W_OK) != 0) fail_io(path, "cannot write");
  remove_leftovers(target);
  std::string temporary;
  const Descriptor file(make_temporary(target, temporary));
  if (file.get() < 0) fail_io(path, "cannot create a file beside it for writing");
  const bool is_stored = write_all(file.get(), bytes) && set_rights(file.get(), old) &&
                         ::fsync(file.get()) == 0 &&
                         ::rename(temporary.c_str(), target.c_str()) == 0;
  if (!is_stored) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    fail_io(path, "cannot write");
  }
  if (!sync_folder(target.parent_path())) fail_io(path, "written, but its folder cannot be synced");
}

/// What there is of a file that states no size.
void read_unsized(InputFile& file, const std::filesystem::path& path,
                  std::vector<std::byte>& bytes) {
  constexpr size_t kPart = 1 << 16;
  constexpr size_t kMost = 16 << 20;
  for (size_t filled = 0;; filled = bytes.size()) {
    DRIFTLESS_REQUIRE(filled <= kMost, ErrorCode::Io, path.string(),
                      ": cannot read; got a file that states no size, expected at most ", kMost,
                      " bytes of it");
    bytes.resize(filled + kPart);
    bytes.resize(filled + file.read(std::span(bytes).subspan(filled)));
    if (bytes.size() < filled + kPart) return;
  }
}

/// For devices, pipes and the like.
void write_into(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) fail_io(path, "cannot open for writing");
  if (!write_all(file.get(), bytes) || !file.close()) fail_io(path, "cannot write");
}

}  // namespace

std::filesystem::path follow_links(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::filesystem::path target = path;
  std::error_code ignored;
  for (int links = 0; std::filesystem::is_symlink(target, ignored); ++links) {
    DRIFTLESS_REQUIRE(links < kMostLinks, ErrorCode::Io, path.string(),
                      ": cannot follow the links; got ", kMostLinks, " and no end");
    target = target.parent_path() / std::filesystem::read_symlink(target, ignored);
  }
  return target;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  InputFile file(path);
  std::vector<std::byte> bytes(file.size());
  file.read_all(bytes);
  if (bytes.empty()) read_unsized(file, path, bytes);
  return bytes;
}

void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    fail_io(path, "cannot write");
  }
  if (is_there && !S_ISREG(status.st_mode)) return write_into(path, bytes);
  replace_file(path, is_there ? std::optional(status) : std::nullopt, bytes);
}

void write_file_atomic(const std::filesystem::path& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace driftless
