// SPDX-License-Identifier: Apache-2.0
// The seam between what thinks and what asks: a reasoner holds a fixed number of slots, each with
// one board and its two recurrent states, and advances chosen slots by one supervision step.
#pragma once

#include <cstdint>
#include <span>

#include "driftless/model/config.h"
#include "driftless/reason/observer.h"

namespace driftless::reason {

/// One board as a model sees it.
struct Board {
  std::span<const uint8_t> tokens;  ///< S tokens below V
  int64_t puzzle = 0;               ///< row of the puzzle table; ignored without prefix rows
  uint64_t seed = 0;   ///< of random initial states and noise, where the architecture draws any
  int64_t number = 0;  ///< what error messages call it; run() counts from 0
};

/// What the heads say about a slot after its last step. Valid until the next step or reset.
struct Readout {
  std::span<const float> logits;  ///< [S, V], row-major
  float halt_logit = 0;
  float continue_logit = 0;  ///< trained in HRM only
};

/// The two recurrent states of a slot, each [T, D], row-major.
struct States {
  std::span<const float> h;  ///< z_H, which the heads read
  std::span<const float> l;  ///< z_L
};

/// Slots do not influence each other: what a board gets does not depend on its neighbors.
class Reasoner {
 public:
  virtual ~Reasoner() = default;

  [[nodiscard]] virtual const model::ModelConfig& config() const = 0;
  [[nodiscard]] virtual int64_t slot_count() const = 0;

  /// Puts a board into a slot with fresh states. Throws InvalidArgument when the slot does not
  /// exist, or the number of tokens, a token or the puzzle row does not fit the model.
  virtual void reset(int64_t slot, const Board& board) = 0;

  /// One supervision step for each of the slots, which must be distinct and hold boards; throws
  /// InvalidArgument otherwise. An observer sees every point that it wants, slot by slot.
  virtual void step(std::span<const int64_t> slots, StepObserver* observer = nullptr) = 0;

  /// Throws InvalidArgument when the slot does not exist or has made no step since its reset.
  [[nodiscard]] virtual Readout read(int64_t slot) const = 0;

  /// The states from which the next step starts. Valid until the next step, reset or set_states.
  /// Throws InvalidArgument when the slot does not exist or holds no board.
  [[nodiscard]] virtual States states(int64_t slot) const = 0;

  /// Replaces the states of a slot that holds a board; its readout stays that of the last step.
  /// Throws InvalidArgument as states() does, or when a length does not fit the model.
  virtual void set_states(int64_t slot, const States& states) = 0;
};

}  // namespace driftless::reason
