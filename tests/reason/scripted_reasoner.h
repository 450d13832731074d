// SPDX-License-Identifier: Apache-2.0
// A reasoner without arithmetic: the first token of a board says what the slot does. The board
// {d, s, ...} answers min(step, s) in every cell and wants to halt from step d on.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "driftless/reason/reasoner.h"

namespace driftless::reason::testing {

class ScriptedReasoner : public Reasoner {
 public:
  explicit ScriptedReasoner(int64_t slots) : slots_(static_cast<size_t>(slots)) {
    config_.vocab_size = 16;
    config_.seq_len = 4;
  }

  [[nodiscard]] const model::ModelConfig& config() const override { return config_; }
  [[nodiscard]] int64_t slot_count() const override { return std::ssize(slots_); }

  void reset(int64_t slot, const Board& board) override {
    Slot& reset = slots_.at(static_cast<size_t>(slot));
    reset.halt_step = board.tokens[0];
    reset.last_change = board.tokens[1];
    reset.steps = 0;
  }

  void step(std::span<const int64_t> slots, StepObserver*) override {
    batch_sizes.push_back(std::ssize(slots));
    for (const int64_t slot : slots) ++slots_.at(static_cast<size_t>(slot)).steps;
  }

  [[nodiscard]] Readout read(int64_t slot) const override {
    const Slot& read = slots_.at(static_cast<size_t>(slot));
    const int64_t answer = std::min(read.steps, read.last_change);
    logits_.assign(4 * 16, 0.0f);
    // Two equal maxima: the first one counts.
    for (size_t cell = 0; cell < 4; ++cell)
      logits_[cell * 16 + static_cast<size_t>(answer)] = logits_[cell * 16 + 15] = 1.0f;
    if (makes_nan) logits_[7] = std::numeric_limits<float>::quiet_NaN();
    const bool wants_halt = read.steps >= read.halt_step;
    return {.logits = logits_,
            .halt_logit = halt_logits.empty() ? (wants_halt ? 1.0f : -1.0f)
                                              : halt_logits[static_cast<size_t>(read.steps - 1)]};
  }

  [[nodiscard]] States states(int64_t) const override { return {}; }
  void set_states(int64_t, const States&) override {}

  std::vector<int64_t> batch_sizes;
  bool makes_nan = false;
  std::vector<float> halt_logits;  ///< after each step, where given

  model::ModelConfig& config_to_change() { return config_; }

 private:
  struct Slot {
    int64_t halt_step = 0, last_change = 0, steps = 0;
  };
  model::ModelConfig config_;
  std::vector<Slot> slots_;
  mutable std::vector<float> logits_;
};

}  // namespace driftless::reason::testing
