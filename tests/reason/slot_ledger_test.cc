// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/slot_ledger.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::reason {
namespace {

constexpr auto kCode = ErrorCode::InvalidArgument;

TEST(SlotLedger, KnowsWhichSlotsHoldBoardsAndReadouts) {
  SlotLedger ledger(2);
  EXPECT_EQ(ledger.count(), 2);
  EXPECT_ERROR(ledger.require_slot(2), kCode, "expected 0 to 1");
  EXPECT_ERROR(ledger.put(-1), kCode, "expected 0 to 1");
  EXPECT_ERROR(ledger.require_board(1), kCode, "slot 1: holds no board");
  ledger.put(1);
  EXPECT_NO_THROW(ledger.require_board(1));
  EXPECT_ERROR(ledger.require_readout(1), kCode, "no step");
  const std::vector<int64_t> one = {1};
  EXPECT_NO_THROW(ledger.require_steppable(one));
  ledger.note_step(one);
  EXPECT_NO_THROW(ledger.require_readout(1));
  ledger.put(1);
  EXPECT_ERROR(ledger.require_readout(1), kCode, "no step");
}

TEST(SlotLedger, RefusesWrongStepsAndStates) {
  SlotLedger ledger(2);
  ledger.put(0);
  EXPECT_ERROR(ledger.require_steppable(std::vector<int64_t>{0, 0}), kCode, "twice");
  EXPECT_ERROR(ledger.require_steppable(std::vector<int64_t>{0, 1}), kCode, "holds no board");
  const std::vector<float> values(6);
  const States states{.h = values, .l = std::span(values).first(5)};
  EXPECT_ERROR(ledger.require_states(0, states, 6), kCode, "got 5 values, expected 6");
  EXPECT_ERROR(ledger.require_states(1, states, 6), kCode, "holds no board");
}

}  // namespace
}  // namespace driftless::reason
