// SPDX-License-Identifier: Apache-2.0
// A board's beginning: the embedded input and the initial states.
#pragma once

#include "driftless/loop/stage.h"
#include "driftless/reason/reasoner.h"
#include "driftless/store/checkpoint.h"

namespace driftless::loop {

/// Keeps its own copy of the tables it needs.
class Start {
 public:
  Start(const model::ModelConfig& config, const store::TensorMap& tensors, const Layout& layout);

  /// Throws InvalidArgument when the board does not fit the model.
  void require_fits(const reason::Board& board) const;

  /// Fills x, z_H and z_L of a slot with zeroed padding rows; requires a board that fits. Drawn
  /// states are z_H, then z_L, row by row, from a generator seeded by the board.
  void fill(Slot& slot, const reason::Board& board) const;

 private:
  void embed(Slot& slot, const reason::Board& board) const;

  model::ModelConfig config_;
  Layout layout_;
  Buffer tokens_, positions_, puzzles_, h_init_, l_init_;
};

}  // namespace driftless::loop
