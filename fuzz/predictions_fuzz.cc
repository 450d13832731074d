// SPDX-License-Identifier: Apache-2.0
// Lines of eval --predictions from anywhere: an Error, or what became of each board.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "driftless/base/error.h"
#include "driftless/run/score/against.h"

#include "fuzz/memory_file.h"

namespace {

using namespace driftless;

/// Two boards, one of them twice.
run::Boards boards() {
  const task::Task& task = task::find_task("sudoku");
  const std::string blank(80, '.');
  const std::string lines = "1" + blank + "\n2" + blank + "\n1" + blank + "\n";
  return {.task = task, .examples = task::parse_examples(task, lines, "boards")};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const run::Boards asked = boards();
  const fuzz::MemoryFile file(data, size);
  try {
    const auto earlier = run::read_earlier(file.path(), asked);
    if (earlier.size() != asked.examples.size()) std::abort();
    for (const run::Earlier& board : earlier)
      if (board.steps < 1) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
