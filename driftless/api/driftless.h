// SPDX-License-Identifier: Apache-2.0
// The native engine for other programs, with no dependency beyond the C++ runtime and threads:
//
//   find_package(driftless REQUIRED)
//   target_link_libraries(program PRIVATE driftless::engine)
//
//   driftless::Engine engine = driftless::Engine::load("sudoku.safetensors", {.threads = 2});
//   std::vector<driftless::Board> boards = {{.tokens = tokens}};
//   for (const driftless::Solution& solution : engine.solve(boards)) use(solution.tokens);
//
// Functions throw std::runtime_error with one line that says what is wrong; error_code() tells of
// which kind. docs/library.md says more, also about the C interface (driftless_c.h).
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftless {

/// One puzzle as the model sees it.
struct Board {
  std::span<const uint8_t> tokens;  ///< Engine::cells() of them, each below Engine::vocabulary()
  int64_t puzzle = 0;               ///< row of the puzzle table, for models that have one
  uint64_t seed = 0;                ///< of random states, for models that draw them (EqR)
};

struct Solution {
  std::vector<uint8_t> tokens;  ///< the most likely token of each cell
  int64_t steps = 0;            ///< supervision steps that it took
  float halt_logit = 0;         ///< above 0 where the model takes the answer for right (TRM, EqR)
};

/// What is seen after each step of each board.
struct StepView {
  int64_t board;  ///< index into the boards of the call
  int64_t step;   ///< from 1
  std::span<const uint8_t> tokens;
  float halt_logit;
};

struct EngineOptions {
  int64_t threads = 1;
  int64_t slots = 8;  ///< boards at a time; costs memory
  /// How a model that is not packed yet is quantized when it is loaded. Ignored for packed ones.
  std::string weights = "mxint4,window=4";
  std::string activations = "mxint4,window=4";
};

enum class Halting : uint8_t {
  WhenModelSays,  ///< a board is done when the model says so, or after the last step
  AfterAllSteps
};

struct SolveOptions {
  Halting halting = Halting::WhenModelSays;
  int64_t max_steps = 0;  ///< 0: as many as the model was trained with
  /// Called on the thread that called solve(); an exception ends the call.
  std::function<void(const StepView& step)> on_step = {};
};

/// A model ready to think. Results do not depend on threads, slots or neighbors. One call of
/// solve() at a time: another one, from on_step or a second thread, throws.
class Engine {
 public:
  /// A packed model (driftless quantize) or a float checkpoint, both safetensors.
  static Engine load(const std::filesystem::path& path, const EngineOptions& options = {});

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// Cells of a board, and the number of different tokens.
  [[nodiscard]] int64_t cells() const noexcept;
  [[nodiscard]] int64_t vocabulary() const noexcept;
  /// Steps that the model was trained with.
  [[nodiscard]] int64_t trained_steps() const noexcept;
  /// The instruction set in use, such as "avx512vnni".
  [[nodiscard]] std::string_view instruction_set() const noexcept;

  /// One solution for each board, in their order.
  [[nodiscard]] std::vector<Solution> solve(std::span<const Board> boards,
                                            const SolveOptions& options = {});

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// The version of this library, such as "0.1.0".
std::string_view version() noexcept;

/// The kind of a caught error, a DRIFTLESS_ERROR_ value of driftless_c.h.
int error_code(const std::exception& error) noexcept;

}  // namespace driftless
