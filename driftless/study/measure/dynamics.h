// SPDX-License-Identifier: Apache-2.0
// Estimates of what the perturbed fixed-point model of quantized recursion speaks of, by finite
// perturbations along the trajectories. With s = (z_H, z_L), F the float model's supervision step
// and G the other's:
//
//   epsilon_t   |G(s) - F(s)| at the other's states: the error that one step adds
//   delta_t     how much that error changes between the two trajectories, per distance
//   L_t         how much F stretches a small perturbation that follows the float trajectory and is
//               brought back to its length after each step
//   L_path_t    how much F stretches the displacement itself
//   mu          the mean of G(s) - F(s) over the steps of a board
//
// docs/metrics.md has the definitions and what is predicted from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/reason/reasoner.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/measure/tally.h"

namespace driftless::study {

/// Length of the perturbation as a share of the state's norm.
inline constexpr double kPerturbation = 1e-3;

/// Series of a tally: by step, then one value a board.
inline constexpr std::array<std::string_view, 4> kDynamicsSteps = {"epsilon", "delta", "L",
                                                                   "L_path"};
struct BoardValue {
  std::string_view name;
  Values values = Values::Any;
};
inline constexpr std::array<BoardValue, 7> kDynamicsBoards = {{{"modulus"},
                                                               {"is_contractive", Values::Fact},
                                                               {"mean_epsilon"},
                                                               {"mean_error"},
                                                               {"bias_share", Values::Share},
                                                               {"predicted"},
                                                               {"observed"}}};
/// The name of such a series in a tally: "dynamics.epsilon".
std::string dynamics_name(std::string_view name);

/// Needs two reasoners with twice as many slots as boards: board i runs in slot i, and slot
/// boards + i is used for evaluations on the side.
class DynamicsProbe {
 public:
  DynamicsProbe(reason::Reasoner& reference, reason::Reasoner& other, uint64_t seed);

  /// The boards of a batch begin; both models have been reset to them. `first_board` numbers them
  /// within the study, for the random perturbations.
  void start(std::span<const reason::Board> boards, int64_t first_board);
  /// Keeps the states from which both are about to step.
  void before_step();
  /// Both have made step number `step` (from 0) of `steps`.
  void after_step(int64_t step, int64_t steps, Tally& tally);

 private:
  using Joint = std::vector<float>;  // z_H, then z_L
  struct BoardState {
    Joint perturbation;
    std::vector<double> error_sum;  // of G(s) - F(s) over the steps
    double epsilon_sum = 0;
    double late_epsilon_sum = 0;
    double late_log_modulus = 0;
    int64_t late_steps = 0;
  };

  /// The joint states of all boards.
  [[nodiscard]] std::vector<Joint> joints(const reason::Reasoner& reasoner) const;
  /// F or G of one state per board, computed in the slots on the side.
  std::vector<Joint> evaluate(reason::Reasoner& reasoner, const std::vector<Joint>& from);
  /// Follows the perturbation one step and returns L_t for each board.
  std::vector<double> stretch_perturbations(const std::vector<Joint>& after_reference);
  void finish_board(const BoardState& board, double observed, int64_t steps, Tally& tally) const;

  reason::Reasoner& reference_;
  reason::Reasoner& other_;
  uint64_t seed_;
  std::vector<reason::Board> boards_;
  std::vector<BoardState> states_;
  std::vector<Joint> before_reference_, before_other_;
};

}  // namespace driftless::study
