// SPDX-License-Identifier: Apache-2.0
// What the CPU's own kernels think about boards, for comparing with the same session elsewhere:
//
//   web_reference MODEL BOARDS COUNT WEIGHTS ACTIVATIONS     ("" "": as the file is)
//
// One line of JSON a board: its tokens and, for each step until the model stops, the hash of both
// states and the halt score.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/task/table.h"

#include "web/engine/session.h"

namespace {

using namespace driftless;

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

void print_boards(char** arguments) {
  web::Session session(read_file(arguments[1]), {arguments[4], arguments[5]});
  DRIFTLESS_REQUIRE(session.is_native(), ErrorCode::Unsupported,
                    "reference: runs on integers only");
  const auto boards = task::read_examples(task::find_task(session.config().task), arguments[2]);
  const auto count = std::min<size_t>(boards.size(), std::strtoul(arguments[3], nullptr, 10));
  for (size_t board = 0; board < count; ++board) {
    nlohmann::json line{{"input", boards[board].input}, {"steps", nlohmann::json::array()}};
    session.start(boards[board].input, 0);
    for (int64_t step = 0; step < session.config().halt_max_steps; ++step) {
      session.step();
      line["steps"].push_back(
          {{"hash", hex(web::state_hash(session.states()))}, {"haltScore", session.halt_score()}});
      if (session.halt_score() > 0) break;
    }
    std::puts(line.dump().c_str());
  }
}

}  // namespace

int main(int count, char** arguments) {
  constexpr int kArguments = 6;
  if (count != kArguments) return 2;
  try {
    print_boards(arguments);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 10 + static_cast<int>(error.code());
  }
}
