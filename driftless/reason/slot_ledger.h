// SPDX-License-Identifier: Apache-2.0
// Which slots of a reasoner hold a board, which have made a step, and what may be asked of them:
// the same on every backend. All checks throw InvalidArgument that names the slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/reason/reasoner.h"

namespace driftless::reason {

class SlotLedger {
 public:
  explicit SlotLedger(int64_t slots) : entries_(static_cast<size_t>(slots)) {}

  [[nodiscard]] int64_t count() const { return std::ssize(entries_); }

  /// A board has entered the slot.
  void put(int64_t slot);
  /// The slots have made a step.
  void note_step(std::span<const int64_t> slots);

  void require_slot(int64_t slot) const;
  void require_board(int64_t slot) const;
  /// Each with a board and named once. Allocates nothing.
  void require_steppable(std::span<const int64_t> slots) const;
  void require_readout(int64_t slot) const;
  /// A board, for states of `size` values each.
  void require_states(int64_t slot, const States& states, int64_t size) const;

 private:
  struct Entry {
    bool has_board = false;
    bool has_readout = false;
  };
  [[nodiscard]] const Entry& at(int64_t slot) const { return entries_[static_cast<size_t>(slot)]; }

  std::vector<Entry> entries_;
};

}  // namespace driftless::reason
