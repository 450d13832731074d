// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/run.h"

#include "driftless/base/error.h"
#include "driftless/reason/readout.h"

namespace driftless::reason {
namespace {

struct Slot {
  int64_t board = 0;
  int64_t unchanged_steps = 0;
  int64_t halt_signals = 0;
  Answer answer;
};

/// The steps that wanted to stop, the latest one included.
int64_t count_signal(int64_t before, const model::ModelConfig& config, const Readout& readout) {
  if (wants_halt(config, readout)) return before + 1;
  return config.halt_confirm_mode == model::HaltConfirm::Cumulative ? before : 0;
}

class Runner {
 public:
  Runner(Reasoner& reasoner, std::span<const Board> boards, const RunOptions& options)
      : reasoner_(reasoner),
        boards_(boards),
        options_(options),
        slots_(static_cast<size_t>(reasoner.slot_count())) {
    for (Slot& slot : slots_)
      slot.answer.tokens.resize(static_cast<size_t>(reasoner.config().seq_len));
    for (int64_t slot = 0; slot < reasoner.slot_count() && has_next(); ++slot) {
      start(slot);
      active_.push_back(slot);
    }
  }

  void run(const AnswerSink& on_done, const AnswerSink& on_step) {
    while (!active_.empty()) {
      reasoner_.step(active_, options_.observer);
      std::erase_if(active_, [&](int64_t index) {
        const bool is_done = advance(index, on_step);
        if (!is_done) return false;
        if (options_.on_last_readout)
          options_.on_last_readout(slot(index).board, reasoner_.read(index));
        on_done(slot(index).board, slot(index).answer);
        if (!has_next()) return true;
        start(index);
        return false;
      });
    }
  }

 private:
  Slot& slot(int64_t index) { return slots_[static_cast<size_t>(index)]; }
  [[nodiscard]] bool has_next() const { return next_board_ < std::ssize(boards_); }

  void start(int64_t index) {
    Slot& started = slot(index);
    started.board = next_board_++;
    started.unchanged_steps = 0;
    started.halt_signals = 0;
    started.answer.steps = 0;
    Board board = boards_[static_cast<size_t>(started.board)];
    board.number = started.board;
    reasoner_.reset(index, board);
  }

  /// Takes in one step; returns whether the board is done.
  bool advance(int64_t index, const AnswerSink& on_step) {
    Slot& current = slot(index);
    Answer& answer = current.answer;
    const Readout readout = reasoner_.read(index);
    const bool is_first = answer.steps == 0;
    ++answer.steps;
    require_finite(readout, current.board, answer.steps);
    const bool changed = take_answer(readout, answer.tokens);
    current.unchanged_steps = changed || is_first ? 0 : current.unchanged_steps + 1;
    answer.halt_logit = readout.halt_logit;
    if (on_step) on_step(current.board, answer);
    const model::ModelConfig& config = reasoner_.config();
    current.halt_signals = count_signal(current.halt_signals, config, readout);
    return answer.steps >= options_.max_steps ||
           options_.halting.is_done({.steps = answer.steps,
                                     .halt_signals = current.halt_signals,
                                     .halt_signals_needed = config.halt_confirm_steps + 1,
                                     .unchanged_steps = current.unchanged_steps});
  }

  Reasoner& reasoner_;
  std::span<const Board> boards_;
  const RunOptions& options_;
  std::vector<Slot> slots_;
  std::vector<int64_t> active_;
  int64_t next_board_ = 0;
};

}  // namespace

void run(Reasoner& reasoner, std::span<const Board> boards, const RunOptions& options,
         const AnswerSink& on_done, const AnswerSink& on_step) {
  DRIFTLESS_REQUIRE(options.max_steps >= 1, ErrorCode::InvalidArgument, "steps; got ",
                    options.max_steps, ", expected at least 1");
  Runner(reasoner, boards, options).run(on_done, on_step);
}

}  // namespace driftless::reason
