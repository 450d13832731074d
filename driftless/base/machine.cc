// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/machine.h"

#include <fstream>

#include <sys/resource.h>

namespace driftless {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string compiler_name() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr int64_t kUnit = 1024;  // Linux counts in KiB
  return usage.ru_maxrss * kUnit;
}

}  // namespace driftless
