// SPDX-License-Identifier: Apache-2.0
// Deep supervision: every slot of the batch holds a board and its states across optimizer steps
// until it halts, then takes a fresh board.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/ranks/ranks.h"
#include "driftless/lab/train/loss.h"

namespace driftless::lab {

/// The tensors keep their addresses for the whole run, as replayed steps require.
struct Carry {
  TensorStates states;         ///< [B, T, D]
  at::Tensor inputs;           ///< [B, S] uint8
  at::Tensor labels;           ///< [B, S] uint8
  at::Tensor steps;            ///< [B] int32, supervision steps the board has had
  at::Tensor halted;           ///< [B] bool
  at::Tensor puzzles;          ///< [B] int32, the board's row of the puzzle table
  TensorStates followed = {};  ///< of the float model that distillation follows; else undefined
};

/// Boards that wait for a free slot, one per slot; those whose slot is taken are dropped.
struct FreshBoards {
  at::Tensor inputs;
  at::Tensor labels;
  at::Tensor min_steps;  ///< [B] uint8: the least number of steps before a slot may halt
  at::Tensor puzzles;    ///< [B] int32
};

/// All slots free.
Carry empty_carry(const RecursiveNet& net, const FreshBoards& boards);

/// Gives each free slot its fresh board, and returns the states to start the step from.
TensorStates refill(Carry& carry, const FreshBoards& fresh, const TensorStates& initial);

/// Takes over the new states and decides which slots halt: after halt_max_steps, or as soon as the
/// halting logit is positive (HRM: above the continue logit) and the slot has had its least number
/// of steps.
void advance(Carry& carry, const StepOutput& output, const FreshBoards& fresh,
             const model::ModelConfig& config);

/// The carry of all ranks, in their order, on each of them.
Carry gather(const Carry& part, Ranks& ranks);
/// The slots of one rank: an equal share of each tensor. Requires that the ranks divide the slots.
Carry share_of(const Carry& whole, const Ranks& ranks);

/// What a run reports, summed on the device since the last reading.
struct TrainingTally {
  int64_t steps = 0;
  double answer_loss = 0;   ///< per board and step
  double halting_loss = 0;  ///< per board and step
  int64_t halted = 0;       ///< boards; the rates below are over these
  double cell_rate = 0;
  double exact_rate = 0;
  double halt_rate = 0;  ///< share whose halting logit was on the right side
  double mean_steps = 0;
};
/// Adds one step to `sums`, float64 [kTallySums]. Call after advance().
constexpr int64_t kTallySums = 8;
void add_to_tally(at::Tensor& sums, const Carry& carry, const StepOutput& output, const Loss& loss);
/// Reads the sums of all ranks and clears. `boards` is the batch of all of them. Waits for the
/// device.
TrainingTally take_tally(at::Tensor& sums, int64_t boards, Ranks& ranks);

}  // namespace driftless::lab
