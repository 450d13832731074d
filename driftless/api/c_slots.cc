// SPDX-License-Identifier: Apache-2.0
// Solving, and slots step by step.
#include <algorithm>
#include <vector>

#include "driftless/api/c_calls.h"
#include "driftless/reason/run.h"

namespace {

using driftless::ErrorCode;
using driftless::api::guarded;
using driftless::api::require_given;
using driftless::api::require_size;
using driftless::api::Turn;
using driftless::api::turn_of;
namespace reason = driftless::reason;

reason::AnswerSink step_sink(const driftless_solve_options& options) {
  if (options.on_step == nullptr) return {};
  return [&options](int64_t board, const reason::Answer& answer) {
    const int stop = options.on_step(options.user, static_cast<size_t>(board), answer.steps,
                                     answer.tokens.data(), answer.halt_logit);
    DRIFTLESS_REQUIRE(stop == 0, ErrorCode::InvalidArgument,
                      "solve: ended by on_step, which returned ", stop);
  };
}

std::vector<reason::Board> boards_of(const driftless_questions& questions, size_t count,
                                     size_t cells) {
  require_size(count, cells + sizeof(reason::Board), "solve: boards");
  std::vector<reason::Board> boards(count);
  for (size_t i = 0; i < count; ++i) {
    boards[i] = {.tokens = {questions.tokens + i * cells, cells},
                 .puzzle = questions.puzzles == nullptr ? 0 : questions.puzzles[i],
                 .seed = questions.seeds == nullptr ? 0 : questions.seeds[i],
                 .number = static_cast<int64_t>(i)};
  }
  return boards;
}

void solve(driftless_engine* engine, const driftless_questions& questions, size_t count,
           const driftless_solve_options* given, const driftless_answers& answers) {
  const Turn turn = turn_of(engine, "solve: engine");
  if (count == 0) return;
  require_given(questions.tokens, "solve: tokens");
  const auto cells = static_cast<size_t>(driftless_cells(engine));
  const std::vector<reason::Board> boards = boards_of(questions, count, cells);
  const driftless_solve_options options = given == nullptr ? driftless_solve_options{} : *given;
  const int64_t trained = engine->checkpoint.config.halt_max_steps;
  reason::run(
      *engine->reasoner, boards,
      {.halting = reason::find_halting(options.all_steps != 0 ? "fixed" : "halt"),
       .max_steps = options.max_steps == 0 ? trained : options.max_steps},
      [&](int64_t board, const reason::Answer& answer) {
        const auto i = static_cast<size_t>(board);
        if (answers.tokens != nullptr)
          std::copy(answer.tokens.begin(), answer.tokens.end(), answers.tokens + i * cells);
        if (answers.steps != nullptr) answers.steps[i] = answer.steps;
        if (answers.halt_logits != nullptr) answers.halt_logits[i] = answer.halt_logit;
      },
      step_sink(options));
}

void copy_to(std::span<const float> values, float* out) {
  if (out != nullptr) std::copy(values.begin(), values.end(), out);
}

}  // namespace

int driftless_solve(driftless_engine* engine, const uint8_t* tokens, size_t boards,
                    const driftless_solve_options* options, uint8_t* answers, int64_t* steps) {
  return guarded([&] {
    if (boards > 0) require_given(answers, "solve: answers");
    solve(engine, {tokens, nullptr, nullptr}, boards, options, {answers, steps, nullptr});
  });
}

int driftless_solve_all(driftless_engine* engine, const driftless_questions* questions,
                        size_t count, const driftless_solve_options* options,
                        const driftless_answers* answers) {
  return guarded([&] {
    require_given(questions, "solve: questions");
    require_given(answers, "solve: answers");
    solve(engine, *questions, count, options, *answers);
  });
}

int driftless_reset(driftless_engine* engine, int64_t slot, const uint8_t* tokens, size_t cells,
                    int64_t puzzle, uint64_t seed) {
  return guarded([&] {
    const Turn turn = turn_of(engine, "reset: engine");
    require_given(tokens, "reset: tokens");
    engine->reasoner->reset(slot, {.tokens = {tokens, cells}, .puzzle = puzzle, .seed = seed});
  });
}

int driftless_step(driftless_engine* engine, const int64_t* slots, size_t count) {
  return guarded([&] {
    const Turn turn = turn_of(engine, "step: engine");
    if (count == 0) return;
    require_given(slots, "step: slots");
    DRIFTLESS_REQUIRE(count <= static_cast<size_t>(engine->reasoner->slot_count()),
                      ErrorCode::InvalidArgument, "step: slots; got ", count,
                      ", expected at most the engine's ", engine->reasoner->slot_count());
    engine->reasoner->step({slots, count});
  });
}

int driftless_states(const driftless_engine* engine, int64_t slot, float* z_h, float* z_l) {
  return guarded([&] {
    const Turn turn = turn_of(engine, "states: engine");
    const reason::States states = engine->reasoner->states(slot);
    copy_to(states.h, z_h);
    copy_to(states.l, z_l);
  });
}

int driftless_set_states(driftless_engine* engine, int64_t slot, const float* z_h, const float* z_l,
                         size_t count) {
  return guarded([&] {
    const Turn turn = turn_of(engine, "set_states: engine");
    require_given(z_h, "set_states: z_h");
    require_given(z_l, "set_states: z_l");
    engine->reasoner->set_states(slot, {.h = {z_h, count}, .l = {z_l, count}});
  });
}

int driftless_logits(const driftless_engine* engine, int64_t slot, float* logits, float* halt_logit,
                     float* continue_logit) {
  return guarded([&] {
    const Turn turn = turn_of(engine, "logits: engine");
    const reason::Readout readout = engine->reasoner->read(slot);
    copy_to(readout.logits, logits);
    copy_to({&readout.halt_logit, 1}, halt_logit);
    copy_to({&readout.continue_logit, 1}, continue_logit);
  });
}
