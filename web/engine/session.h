// SPDX-License-Identifier: Apache-2.0
// One model under one number format and the board it thinks about: what the page and the npm
// package call, and what tests run on the CPU to compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driftless/quant/plan/scheme.h"
#include "driftless/reason/reasoner.h"

namespace driftless::web {

/// How to run a model. Empty quantizers: as the file is, packed models by their own plan and
/// checkpoints in float.
struct Choice {
  std::string weights{};      ///< "mxint4,window=3", "int4/tensor"
  std::string activations{};  ///< the same, or "none"
  quant::Coverage coverage = quant::Coverage::Block;
  quant::AttentionPrecision attention = quant::AttentionPrecision::Float;
  bool is_simulated = false;  ///< in float32 even where integers would do
};

class Session {
 public:
  /// A packed model or a float checkpoint, both safetensors. A packed model under another choice is
  /// run from the values that its codes stand for. Throws BadFile, BadConfig, Unsupported, Numeric
  /// or InvalidArgument.
  Session(std::vector<std::byte> file, const Choice& choice);

  [[nodiscard]] const model::ModelConfig& config() const { return reasoner_->config(); }
  [[nodiscard]] bool is_native() const { return is_native_; }
  /// The quantizers in use, as text.
  [[nodiscard]] const std::string& scheme() const { return scheme_; }

  /// Puts a board in. Throws InvalidArgument where it does not fit the model.
  void start(std::span<const uint8_t> tokens, uint64_t seed);
  /// One supervision step. Throws Numeric.
  void step();
  /// After a step: the most likely token of each cell, and what reason::halt_score says.
  [[nodiscard]] std::span<const uint8_t> answer() const { return answer_; }
  [[nodiscard]] double halt_score() const { return halt_score_; }
  [[nodiscard]] reason::States states() const { return reasoner_->states(0); }
  /// [cells, vocabulary], of the last step.
  [[nodiscard]] std::span<const float> logits() const { return reasoner_->read(0).logits; }

 private:
  std::unique_ptr<reason::Reasoner> reasoner_;
  bool is_native_ = false;
  std::string scheme_;
  std::vector<uint8_t> answer_;
  double halt_score_ = 0;
  int64_t steps_ = 0;
};

/// FNV-1a over the bytes of both states: equal where they are equal bit for bit.
uint64_t state_hash(const reason::States& states);

}  // namespace driftless::web
