// SPDX-License-Identifier: Apache-2.0
// What the functions of the C interface share: exceptions become codes, pointers are asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "driftless/api/driftless_c.h"
#include "driftless/api/turn.h"
#include "driftless/base/error.h"
#include "driftless/reason/reasoner.h"
#include "driftless/run/backend.h"
#include "driftless/run/scheme.h"

struct driftless_engine {  // NOLINT(readability-identifier-naming): the name of the C interface
  std::string path;        ///< "" for a model from memory
  driftless::store::Checkpoint checkpoint;  ///< configuration alone
  std::vector<driftless::store::Finding> found;
  driftless::run::PlannedScheme scheme;
  driftless::run::BackendOptions backend;
  bool is_packed = false;
  std::unique_ptr<driftless::reason::Reasoner> reasoner;
  mutable std::atomic_flag is_busy{};
};

namespace driftless::api {

/// Keeps the message for driftless_last_error() and returns the code.
int remember(const std::exception& error) noexcept;

/// Runs what may throw; an exception becomes a code and a message.
template <class Action>
int guarded(const Action& action) noexcept {
  try {
    action();
    return DRIFTLESS_OK;
  } catch (const std::exception& error) {
    return remember(error);
  } catch (...) {
    return DRIFTLESS_ERROR_INTERNAL;
  }
}

template <class T>
void require_given(const T* pointer, const char* what) {
  DRIFTLESS_REQUIRE(pointer != nullptr, ErrorCode::InvalidArgument, what,
                    "; got NULL, expected a pointer");
}

/// Throws InvalidArgument where no memory holds `count` elements of so many bytes.
inline void require_size(size_t count, size_t element_bytes, const char* what) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());
  DRIFTLESS_REQUIRE(count <= kMost / element_bytes, ErrorCode::InvalidArgument, what, "; got ",
                    count, ", more than memory can hold");
}

/// The text, or what NULL stands for.
inline std::string text_or(const char* text, std::string_view otherwise) {
  return text == nullptr ? std::string(otherwise) : std::string(text);
}

/// Bytes that driftless_free_memory frees.
void* copied(const void* bytes, size_t size);
inline char* copied(const std::string& text) {
  return static_cast<char*>(copied(text.c_str(), text.size() + 1));
}

/// Throws InvalidArgument without an engine and where it is at work.
Turn turn_of(const driftless_engine* engine, const char* what);

}  // namespace driftless::api
