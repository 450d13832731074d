// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/evaluate.h"

#include <algorithm>
#include <vector>

#include <ATen/core/grad_mode.h>

#include "driftless/base/error.h"

namespace driftless::lab {
namespace {

at::Tensor inputs_of(std::span<const task::Example> boards) {
  const auto cells = boards.front().input.size();
  at::Tensor tokens = at::empty({std::ssize(boards), static_cast<int64_t>(cells)}, at::kByte);
  uint8_t* out = tokens.data_ptr<uint8_t>();
  for (const task::Example& board : boards) {
    DRIFTLESS_REQUIRE(board.input.size() == cells, ErrorCode::InvalidArgument,
                      "evaluate: got boards of ", cells, " and of ", board.input.size(),
                      " cells, expected one size");
    out = std::copy(board.input.begin(), board.input.end(), out);
  }
  return tokens;
}

at::Tensor puzzles_of(std::span<const task::Example> boards) {
  at::Tensor ids = at::empty({std::ssize(boards)}, at::kLong);
  int64_t* out = ids.data_ptr<int64_t>();
  for (const task::Example& board : boards) *out++ = board.puzzle;
  return ids;
}

}  // namespace

task::Score evaluate(const RecursiveNet& net, std::span<const task::Example> boards,
                     const EvaluateOptions& options) {
  DRIFTLESS_REQUIRE(!boards.empty() && options.steps > 0 && options.batch > 0,
                    ErrorCode::InvalidArgument, "evaluate: got ", boards.size(), " boards, ",
                    options.steps, " steps, batch ", options.batch, ", expected at least 1 each");
  const at::NoGradGuard no_gradients;
  task::Score score;
  for (size_t begin = 0; begin < boards.size(); begin += static_cast<size_t>(options.batch)) {
    const auto part =
        boards.subspan(begin, std::min(static_cast<size_t>(options.batch), boards.size() - begin));
    const at::Tensor inputs = inputs_of(part).to(options.device);
    at::Tensor puzzles;
    if (options.puzzle_table.defined())
      puzzles = options.puzzle_table.index_select(0, puzzles_of(part).to(options.device));
    StepOutput output{net.initial_states(inputs.size(0)), {}, {}, {}};
    for (int64_t i = 0; i < options.steps; ++i)
      output = net.step(output.states, {inputs, puzzles},
                        {.chunk = options.chunk, .between = options.between});
    const at::Tensor answers = output.logits.argmax(2).to(at::kByte).to(at::kCPU).contiguous();
    const uint8_t* answer = answers.data_ptr<uint8_t>();
    for (const task::Example& board : part) {
      const task::Share cells = task::matching_cells(board.label, {answer, board.label.size()});
      score.add(cells.hits == cells.n ? task::Outcome::Exact : task::Outcome::Wrong, cells,
                options.steps);
      answer += inputs.size(1);
    }
  }
  return score;
}

}  // namespace driftless::lab
