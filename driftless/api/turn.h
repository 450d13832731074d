// SPDX-License-Identifier: Apache-2.0
// The one call that an engine runs.
#pragma once

#include <atomic>
#include <string_view>

#include "driftless/base/error.h"

namespace driftless::api {

/// Holds the engine's flag for as long as a call runs.
class Turn {
 public:
  /// Throws InvalidArgument, with `what` first, while another call holds it.
  Turn(std::atomic_flag& is_busy, std::string_view what) : is_busy_(is_busy) {
    DRIFTLESS_REQUIRE(!is_busy_.test_and_set(), ErrorCode::InvalidArgument, what,
                      ": the engine is at work; got a second call, from a callback or another "
                      "thread, expected one at a time");
  }
  ~Turn() { is_busy_.clear(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic_flag& is_busy_;
};

}  // namespace driftless::api
