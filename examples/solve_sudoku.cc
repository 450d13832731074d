// SPDX-License-Identifier: Apache-2.0
// Solves Sudoku boards and shows the answer after every step:
//
//   solve_sudoku MODEL BOARD...      a board is 81 characters, digits and '.'
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <driftless/driftless.h>

namespace {

/// Token 1 is a blank cell, 2 to 10 are the digits.
std::vector<uint8_t> tokens_of(std::string_view text) {
  std::vector<uint8_t> tokens;
  for (const char c : text) tokens.push_back(c == '.' ? 1 : static_cast<uint8_t>(c - '0' + 1));
  return tokens;
}

std::string text_of(std::span<const uint8_t> tokens) {
  std::string text;
  for (const uint8_t token : tokens) text += token < 2 ? '.' : static_cast<char>('0' + token - 1);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: solve_sudoku MODEL BOARD...\n");
    return 2;
  }
  try {
    driftless::Engine engine = driftless::Engine::load(argv[1], {.threads = 2});
    std::vector<std::vector<uint8_t>> puzzles;
    std::vector<driftless::Board> boards;
    for (int i = 2; i < argc; ++i) puzzles.push_back(tokens_of(argv[i]));
    for (const auto& puzzle : puzzles) boards.push_back({.tokens = puzzle});
    const auto show = [](const driftless::StepView& step) {
      std::printf("board %d, step %d: %s\n", static_cast<int>(step.board),
                  static_cast<int>(step.step), text_of(step.tokens).c_str());
    };
    for (const driftless::Solution& solution : engine.solve(boards, {.on_step = show}))
      std::printf("%s in %d steps\n", text_of(solution.tokens).c_str(),
                  static_cast<int>(solution.steps));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "solve_sudoku: %s\n", error.what());
    return driftless::error_code(error);
  }
}
