// SPDX-License-Identifier: Apache-2.0
// What a result was measured on.
#pragma once

#include <string>

namespace driftless {

/// The processor's own name, or "unknown".
std::string processor_name();

/// The compiler this program was built with, such as "g++ 12.2.0".
std::string compiler_name();

}  // namespace driftless
