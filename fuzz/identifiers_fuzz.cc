// SPDX-License-Identifier: Apache-2.0
// The names of a puzzle table from anywhere: an Error, or a list in which every task finds rows of
// its own, those of the task as it is first.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/task/arc/rows.h"

#include "fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless::task::arc;
  const driftless::fuzz::MemoryFile file(data, size);
  try {
    const std::vector<std::string> names = read_identifiers(file.path());
    const Identifiers identifiers(names, "fuzz");
    for (const std::string& name : names) {
      if (name == kBlankName) continue;
      const auto entries = identifiers.of(parse_variant_name(name).puzzle);
      if (entries.empty()) std::abort();
      bool is_original = true;
      for (const Identifiers::Entry& entry : entries) {
        if (entry.variant == Variant{} && !is_original) std::abort();
        is_original = entry.variant == Variant{};
        if (entry.row < 0 || entry.row >= std::ssize(names)) std::abort();
      }
    }
  } catch (const driftless::Error&) {
  }
  return 0;
}
