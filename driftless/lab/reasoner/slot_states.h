// SPDX-License-Identifier: Apache-2.0
// What the slots of a reasoner hold: boards and states, as one tensor each on the device, and what
// layers keep of earlier calls. Boards that come are kept on the host until somebody needs the
// device to have them, then all move at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/quant/change_memory.h"
#include "driftless/lab/reasoner/board_noise.h"
#include "driftless/reason/reasoner.h"

namespace driftless::lab {

class SlotStates {
 public:
  struct Options {
    int64_t slots;
    int64_t threads;
    at::TensorOptions on_device;  ///< device, and type of the states
    bool keeps_changes = false;   ///< whether a layer has a plan with delta
  };
  /// `puzzle_table` is undefined without prefix rows. The net must live as long.
  SlotStates(const RecursiveNet& net, at::Tensor puzzle_table, const Options& options);

  [[nodiscard]] int64_t count() const { return tokens_.size(0); }
  /// The noise after a network call: the next standard normal values [slots, T, D] of each.
  at::Tensor draw_noise(std::span<const int64_t> slots);

  /// Requires a board that fits.
  void put(int64_t slot, const reason::Board& board);

  /// Slots for a step, in order; the tensors themselves where these are all slots.
  struct Selection {
    TensorStates states;
    Inputs inputs;
    at::Tensor host_index;  ///< [boards] int64 on the CPU
    at::Tensor index;       ///< the same on the device; undefined where these are all slots
    ChangeMemory* changes = nullptr;  ///< of the same; null where no layer keeps any
  };
  Selection select(std::span<const int64_t> slots);
  void store(const Selection& selection, const TensorStates& states);

  /// Valid until the next put, set or store.
  reason::States read(int64_t slot);
  void set(int64_t slot, const reason::States& states);

 private:
  void move_fresh_boards();

  const RecursiveNet& net_;
  std::optional<BoardNoise> noise_;      // where the model draws some
  std::optional<ChangeMemory> changes_;  // where layers keep some
  TensorStates states_;
  Inputs inputs_;
  // On the host:
  at::Tensor tokens_;        // [slots, S]
  at::Tensor puzzle_table_;  // whole; only rows in use move
  at::Tensor puzzle_rows_;   // [slots]
  std::vector<uint64_t> seeds_;
  std::vector<bool> is_fresh_;
  TensorStates host_states_;  // float32 copies, undefined where they are not current
};

}  // namespace driftless::lab
