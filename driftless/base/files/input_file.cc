// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/files/input_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driftless/base/error.h"

namespace driftless {
namespace {

[[noreturn]] void fail_input(const std::filesystem::path& path, const char* what) {
  const int reason = errno;
  fail(ErrorCode::Io, path.string(), ": ", what, "; got ", std::strerror(reason));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return "a device";
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_input(path, "cannot open for reading");
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail_input(path, "cannot read the size");
    DRIFTLESS_REQUIRE(S_ISREG(status.st_mode), ErrorCode::Io, path.string(), ": cannot read; got ",
                      kind_of(status.st_mode), ", expected a regular file");
    size_ = static_cast<uint64_t>(status.st_size);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

size_t InputFile::read(std::span<std::byte> bytes) {
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(descriptor_, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_input(path_, "cannot read");
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

void InputFile::read_all(std::span<std::byte> bytes) {
  const size_t got = read(bytes);
  DRIFTLESS_REQUIRE(got == bytes.size(), ErrorCode::Io, path_.string(), ": cannot read; got ", got,
                    " bytes, expected ", bytes.size(), "; the file shrank while being read");
}

}  // namespace driftless
