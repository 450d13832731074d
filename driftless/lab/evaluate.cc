// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/evaluate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/core/grad_mode.h>

#include "driftless/base/error.h"

namespace driftless::lab {
namespace {

using task::sudoku::Board;
using task::sudoku::Puzzle;

template <class Select>
at::Tensor tokens_of(std::span<const Puzzle> puzzles, at::Device device, Select select) {
  const int64_t cells = puzzles.front().question.size();
  at::Tensor tokens = at::empty({static_cast<int64_t>(puzzles.size()), cells}, at::kByte);
  uint8_t* out = tokens.data_ptr<uint8_t>();
  for (const Puzzle& puzzle : puzzles) {
    const Board& board = select(puzzle);
    for (int64_t cell = 0; cell < cells; ++cell) *out++ = static_cast<uint8_t>(board.at(cell) + 1);
  }
  return tokens.to(device);
}

}  // namespace

Score evaluate(const RecursiveNet& net, std::span<const Puzzle> puzzles,
               const EvaluateOptions& options) {
  DRIFTLESS_REQUIRE(!puzzles.empty() && options.steps > 0 && options.batch > 0,
                    ErrorCode::InvalidArgument, "evaluate: got ", puzzles.size(), " boards, ",
                    options.steps, " steps, batch ", options.batch, ", expected at least 1 each");
  const at::NoGradGuard no_gradients;
  Score score;
  for (size_t begin = 0; begin < puzzles.size(); begin += static_cast<size_t>(options.batch)) {
    const auto part = puzzles.subspan(
        begin, std::min(static_cast<size_t>(options.batch), puzzles.size() - begin));
    const at::Tensor inputs =
        tokens_of(part, options.device, [](const Puzzle& p) -> const Board& { return p.question; });
    const at::Tensor labels =
        tokens_of(part, options.device, [](const Puzzle& p) -> const Board& { return p.answer; });
    StepOutput output{net.initial_states(inputs.size(0)), {}, {}, {}};
    for (int64_t i = 0; i < options.steps; ++i)
      output = net.step(output.states, {inputs, {}}, {.chunk = options.chunk});
    const at::Tensor is_right = output.logits.argmax(2).eq(labels);
    score.boards += inputs.size(0);
    score.exact += is_right.all(1).sum().item<int64_t>();
    score.right_cells += is_right.sum().item<int64_t>();
  }
  return score;
}

Interval wilson_interval(int64_t successes, int64_t trials) {
  DRIFTLESS_REQUIRE(trials > 0 && successes >= 0 && successes <= trials, ErrorCode::InvalidArgument,
                    "interval: got ", successes, " of ", trials,
                    ", expected 0..trials of at least 1");
  constexpr double kZ = 1.959963984540054;
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double scale = 1.0 / (1.0 + kZ * kZ / n);
  const double center = scale * (p + kZ * kZ / (2 * n));
  const double half = scale * kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return {center - half, center + half};
}

}  // namespace driftless::lab
