// SPDX-License-Identifier: Apache-2.0
// The one exception type of the project and the two ways to raise it: DRIFTLESS_REQUIRE for what a
// user, a file or a configuration can cause, DRIFTLESS_ASSERT for what only a programmer can cause.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace driftless {

/// What went wrong, in classes a caller can act on. The command line exits with 10 + the value, so
/// values are fixed once released.
enum class ErrorCode {
  InvalidArgument = 0,
  BadConfig = 1,
  BadFile = 2,
  Unsupported = 3,
  Io = 4,
  Numeric = 5,
  Internal = 6,
};

/// Carries one line for the user: "where: what; got X, expected Y; hint".
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Throws Error with the arguments streamed into one message.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(code, message.str());
}

namespace detail {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace detail

}  // namespace driftless

#define DRIFTLESS_REQUIRE(condition, code, ...) \
  do {                                          \
    if (!(condition)) [[unlikely]]              \
      ::driftless::fail((code), __VA_ARGS__);   \
  } while (false)

#ifdef NDEBUG
#define DRIFTLESS_ASSERT(condition) static_cast<void>(0)
#else
#define DRIFTLESS_ASSERT(condition)   \
  ((condition) ? static_cast<void>(0) \
               : ::driftless::detail::assertion_failed(#condition, __FILE__, __LINE__))
#endif
