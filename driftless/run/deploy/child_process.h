// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own, whose memory is then its own too.
#pragma once

#include <cstdint>
#include <functional>

namespace driftless::run {

/// Does the work in a child of this process and returns the most bytes that the child held,
/// program and libraries included; nothing else comes back. To be called before this process has
/// threads or much memory, which a child starts with. Throws what the work throws, as an Error, and
/// Io where there can be no child.
int64_t peak_memory_of(const std::function<void()>& work);

}  // namespace driftless::run
