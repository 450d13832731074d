// SPDX-License-Identifier: Apache-2.0
// What a result was measured on.
#pragma once

#include <cstdint>
#include <string>

namespace driftless {

/// The processor's own name, or "unknown".
std::string processor_name();

/// The compiler this program was built with, such as "g++ 12.2.0".
std::string compiler_name();

/// The most memory this process has held so far, program and libraries included.
int64_t peak_memory_bytes();

}  // namespace driftless
