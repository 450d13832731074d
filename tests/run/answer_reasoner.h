// SPDX-License-Identifier: Apache-2.0
// A reasoner that gives a prepared answer to each board in one step.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "driftless/reason/reasoner.h"

namespace driftless::run::testing {

struct Prepared {
  std::vector<uint8_t> tokens;
  float halt_logit = 0;
};

class AnswerReasoner : public reason::Reasoner {
 public:
  using Answers = std::function<Prepared(const reason::Board& board)>;

  AnswerReasoner(int64_t vocab_size, int64_t seq_len, Answers answers)
      : answers_(std::move(answers)) {
    config_.vocab_size = vocab_size;
    config_.seq_len = seq_len;
  }

  [[nodiscard]] const model::ModelConfig& config() const override { return config_; }
  [[nodiscard]] int64_t slot_count() const override { return 1; }
  void reset(int64_t, const reason::Board& board) override { answer_ = answers_(board); }
  void step(std::span<const int64_t>, reason::StepObserver*) override {}
  [[nodiscard]] reason::Readout read(int64_t) const override {
    const auto vocabulary = static_cast<size_t>(config_.vocab_size);
    logits_.assign(answer_.tokens.size() * vocabulary, 0.0f);
    for (size_t cell = 0; cell < answer_.tokens.size(); ++cell)
      logits_[cell * vocabulary + answer_.tokens[cell]] = 1.0f;
    return {.logits = logits_, .halt_logit = answer_.halt_logit};
  }
  [[nodiscard]] reason::States states(int64_t) const override { return {}; }
  void set_states(int64_t, const reason::States&) override {}

 private:
  Answers answers_;
  model::ModelConfig config_;
  Prepared answer_;
  mutable std::vector<float> logits_;
};

}  // namespace driftless::run::testing
