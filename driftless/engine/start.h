// SPDX-License-Identifier: Apache-2.0
// A board's beginning: the embedded input and the initial states.
#pragma once

#include "driftless/engine/block.h"
#include "driftless/reason/reasoner.h"

namespace driftless::engine {

/// Keeps its own copy of the tables it needs.
class Start {
 public:
  explicit Start(const Build& build);

  /// Throws InvalidArgument when the board does not fit the model.
  void require_fits(const reason::Board& board) const;

  /// Fills x, z_H and z_L of a slot with zeroed padding rows; requires a board that fits. EqR draws
  /// z_H, then z_L, row by row, from a generator seeded by the board.
  void fill(Slot& slot, const reason::Board& board) const;

 private:
  void embed(Slot& slot, const reason::Board& board) const;

  model::ModelConfig config_;
  Layout layout_;
  Buffer tokens_, positions_, puzzles_, h_init_, l_init_;
};

}  // namespace driftless::engine
