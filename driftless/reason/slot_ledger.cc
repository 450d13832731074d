// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/slot_ledger.h"

#include <utility>

#include "driftless/base/error.h"
#include "driftless/reason/start.h"

namespace driftless::reason {

void SlotLedger::put(int64_t slot) {
  require_slot(slot);
  entries_[static_cast<size_t>(slot)] = {.has_board = true, .has_readout = false};
}

void SlotLedger::note_step(std::span<const int64_t> slots) {
  for (const int64_t slot : slots) entries_[static_cast<size_t>(slot)].has_readout = true;
}

void SlotLedger::require_slot(int64_t slot) const {
  DRIFTLESS_REQUIRE(slot >= 0 && slot < count(), ErrorCode::InvalidArgument, "slot; got ", slot,
                    ", expected 0 to ", count() - 1);
}

void SlotLedger::require_board(int64_t slot) const {
  require_slot(slot);
  DRIFTLESS_REQUIRE(at(slot).has_board, ErrorCode::InvalidArgument, "slot ", slot,
                    ": holds no board");
}

void SlotLedger::require_steppable(std::span<const int64_t> slots) const {
  for (const int64_t slot : slots) require_board(slot);
  require_distinct(slots);
}

void SlotLedger::require_readout(int64_t slot) const {
  require_slot(slot);
  DRIFTLESS_REQUIRE(at(slot).has_readout, ErrorCode::InvalidArgument, "slot ", slot,
                    ": has made no step since its reset");
}

void SlotLedger::require_states(int64_t slot, const States& states, int64_t size) const {
  require_board(slot);
  for (const auto given : {states.h.size(), states.l.size()})
    DRIFTLESS_REQUIRE(std::cmp_equal(given, size), ErrorCode::InvalidArgument, "slot ", slot,
                      ": state; got ", given, " values, expected ", size);
}

}  // namespace driftless::reason
