// SPDX-License-Identifier: Apache-2.0
// A file of boards from anywhere, as commands that are not told its task read it: no task claims
// it, an Error, or boards of one size whose tokens the task has.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/task/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless;
  constexpr size_t kMostBytes = 1000;  // boards without an answer are solved, each for some time
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  const task::Task* const task = task::claimant(text);
  if (task == nullptr) return 0;
  try {
    const auto examples = task::parse_examples(*task, text, "fuzz");
    for (const task::Example& example : examples) {
      if (example.input.size() != examples.front().input.size()) std::abort();
      if (example.label.size() != example.input.size()) std::abort();
      for (const uint8_t token : example.input)
        if (token >= task->vocab_size()) std::abort();
      for (const uint8_t token : example.label)
        if (token >= task->vocab_size()) std::abort();
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Internal) std::abort();
  }
  return 0;
}
