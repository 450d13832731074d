// SPDX-License-Identifier: Apache-2.0
// A reasoner whose steps can be computed by hand: both states are two numbers (T 1, D 2), a
// supervision step multiplies each by a gain and adds a bias. Its one cell reads z_H (or, where
// said, z_L): the logits of the tokens 0, 1, 2 are 0, z[0], z[1], the halt logit is z[0] - z[1].
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "driftless/reason/boards.h"
#include "driftless/reason/plan/calibrate.h"
#include "driftless/reason/reasoner.h"
#include "driftless/study/backend.h"
#include "driftless/study/lockstep.h"
#include "driftless/study/record/record.h"
#include "driftless/task/table.h"

namespace driftless::study::testing {

inline const Origin kOrigin{.version = "1",
                            .model_file = "m",
                            .model_sha256 = "aa",
                            .data_file = "d",
                            .data_sha256 = "bb",
                            .calibration_file = "d",
                            .calibration_sha256 = "bb",
                            .backend = "test"};

using State = std::array<float, 2>;

enum class Heads { ReadH, ReadL };

struct LinearStep {
  float gain = 1;
  State bias = {0, 0};
  Heads heads = Heads::ReadH;
};

inline model::ModelConfig linear_config() {
  model::ModelConfig config;
  config.vocab_size = 3;
  config.seq_len = 1;
  config.hidden_size = 2;
  config.num_heads = 1;
  config.num_layers = 1;
  config.mixer = model::Mixer::Tokens;
  config.positions = model::Positions::None;
  config.puzzle_emb_len = 0;
  config.puzzle_emb_ndim = 0;
  config.h_cycles = 1;
  config.l_cycles = 1;
  config.halt_max_steps = 4;
  return config;
}

class LinearReasoner : public reason::Reasoner {
 public:
  LinearReasoner(LinearStep step, int64_t slots)
      : config_(linear_config()), step_(step), slots_(static_cast<size_t>(slots)) {}

  [[nodiscard]] const model::ModelConfig& config() const override { return config_; }
  [[nodiscard]] int64_t slot_count() const override { return std::ssize(slots_); }
  /// Both states start at (token, 1).
  void reset(int64_t slot, const reason::Board& board) override {
    const auto token = static_cast<float>(board.tokens[0]);
    at(slot) = {.h = {token, 1}, .l = {token, 1}};
  }
  void step(std::span<const int64_t> slots, reason::StepObserver*) override {
    for (const int64_t slot : slots)
      for (State* state : {&at(slot).h, &at(slot).l})
        for (size_t i = 0; i < 2; ++i) (*state)[i] = step_.gain * (*state)[i] + step_.bias[i];
  }
  [[nodiscard]] reason::Readout read(int64_t slot) const override {
    Slot& read = slots_.at(static_cast<size_t>(slot));
    const State& z = step_.heads == Heads::ReadH ? read.h : read.l;
    read.logits = {0, z[0], z[1]};
    return {.logits = read.logits, .halt_logit = z[0] - z[1]};
  }
  [[nodiscard]] reason::States states(int64_t slot) const override {
    const Slot& read = slots_.at(static_cast<size_t>(slot));
    return {.h = read.h, .l = read.l};
  }
  void set_states(int64_t slot, const reason::States& states) override {
    std::copy(states.h.begin(), states.h.end(), at(slot).h.begin());
    std::copy(states.l.begin(), states.l.end(), at(slot).l.begin());
  }

 private:
  struct Slot {
    State h{}, l{};
    std::array<float, 3> logits{};
  };
  Slot& at(int64_t slot) { return slots_.at(static_cast<size_t>(slot)); }

  model::ModelConfig config_;
  LinearStep step_;
  mutable std::vector<Slot> slots_;
};

/// A task with one cell: right is what the label says.
inline task::Task linear_task() {
  return {.name = "linear",
          .description = "",
          .alphabet = "012",
          .seq_len = 1,
          .read = nullptr,
          .parse = nullptr,
          .check = [](const task::Example& example, std::span<const uint8_t> prediction) {
            return example.label[0] == prediction[0] ? task::Outcome::Exact : task::Outcome::Wrong;
          }};
}

inline task::Example example_of(uint8_t token, uint8_t label) {
  return {.name = "", .input = {token}, .label = {label}};
}

/// `reference` without a plan, `other` with one; calibration gives every layer the scale 1.
inline Backend linear_backend(LinearStep reference, LinearStep other) {
  return {.make = [=](const ReasonerRequest& request) -> std::unique_ptr<reason::Reasoner> {
            const LinearStep step = request.plan.layers.empty() ? reference : other;
            return std::make_unique<LinearReasoner>(step, request.slots);
          },
          .calibrate =
              [](const CalibrationRequest& request) {
                std::vector<quant::QuantPlan> plans = request.plans;
                for (quant::QuantPlan& plan : plans)
                  for (quant::LayerPlan& layer : plan.layers) layer.scales = {{.scale = 1}};
                return plans;
              }};
}

/// Calibration boards drawn from examples that outlive the function.
inline auto draw_from(std::span<const task::Example> examples) {
  return [examples](int64_t count, uint64_t seed) {
    return reason::draw_boards(reason::boards_of(examples, 0), count, seed);
  };
}

}  // namespace driftless::study::testing
