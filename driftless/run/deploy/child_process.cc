// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/deploy/child_process.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/base/machine.h"
#include "driftless/base/text/text.h"

namespace driftless::run {
namespace {

/// What a child says: "CODE TEXT", where code 0 is followed by its bytes.
std::string report_of(const std::function<void()>& work) {
  try {
    work();
    return "0 " + std::to_string(peak_memory_bytes());
  } catch (const Error& error) {
    return std::to_string(1 + static_cast<int>(error.code())) + " " + error.what();
  } catch (const std::bad_alloc&) {
    return std::to_string(1 + static_cast<int>(ErrorCode::Internal)) + " out of memory";
  } catch (const std::exception& error) {
    return std::to_string(1 + static_cast<int>(ErrorCode::Internal)) + " " + error.what();
  }
}

void write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the parent has gone
    done += static_cast<size_t>(count);
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<size_t>(count));
  }
}

void wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

int64_t peak_memory_of(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  DRIFTLESS_REQUIRE(::pipe(ends.data()) == 0, ErrorCode::Io, "child process: no pipe; got ",
                    std::strerror(errno));
  std::fflush(nullptr);  // what is buffered would be written twice
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_all(ends[1], report_of(work));
    ::_exit(0);
  }
  const int reason = errno;
  ::close(ends[1]);
  const std::string report = child < 0 ? "" : read_all(ends[0]);
  ::close(ends[0]);
  DRIFTLESS_REQUIRE(child > 0, ErrorCode::Io, "child process: cannot start; got ",
                    std::strerror(reason));
  wait_for(child);
  const size_t space = report.find(' ');
  const auto code = parse_int(report.substr(0, space));
  DRIFTLESS_REQUIRE(space != std::string::npos && code, ErrorCode::Internal,
                    "child process: ended without a result; was it killed for its memory?");
  if (*code > 0) throw Error(static_cast<ErrorCode>(*code - 1), report.substr(space + 1));
  return parse_int(report.substr(space + 1)).value_or(0);
}

}  // namespace driftless::run
