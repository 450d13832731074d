// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/dynamics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/seeds.h"

namespace driftless::study {
namespace {

/// A stretch of zero would make the geometric mean zero whatever the other steps do.
constexpr double kLeastStretch = 1e-6;

std::vector<float> minus(std::span<const float> a, std::span<const float> b) {
  std::vector<float> difference(a.size());
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

/// z_H, then z_L.
std::vector<float> joint(const reason::States& states) {
  std::vector<float> both(states.h.begin(), states.h.end());
  both.insert(both.end(), states.l.begin(), states.l.end());
  return both;
}

void scale_to(std::vector<float>& vector, double length) {
  const double now = norm(vector);
  if (now == 0) return;
  for (float& value : vector) value = static_cast<float>(value * (length / now));
}

}  // namespace

std::string dynamics_name(std::string_view name) { return "dynamics." + std::string(name); }

DynamicsProbe::DynamicsProbe(reason::Reasoner& reference, reason::Reasoner& other, uint64_t seed)
    : reference_(reference), other_(other), seed_(seed) {}

std::vector<DynamicsProbe::Joint> DynamicsProbe::joints(const reason::Reasoner& reasoner) const {
  std::vector<Joint> all;
  all.reserve(boards_.size());
  for (int64_t slot = 0; slot < std::ssize(boards_); ++slot)
    all.push_back(joint(reasoner.states(slot)));
  return all;
}

void DynamicsProbe::start(std::span<const reason::Board> boards, int64_t first_board) {
  boards_.assign(boards.begin(), boards.end());
  states_.assign(boards.size(), {});
  for (size_t i = 0; i < boards.size(); ++i) {
    BoardState& board = states_[i];
    const Joint state = joint(reference_.states(static_cast<int64_t>(i)));
    Rng rng(mix_seeds({seed_, static_cast<uint64_t>(first_board) + i}));
    board.perturbation.resize(state.size());
    for (float& value : board.perturbation) value = static_cast<float>(rng.gaussian());
    scale_to(board.perturbation, kPerturbation * norm(state));
    board.error_sum.assign(state.size(), 0);
  }
}

void DynamicsProbe::before_step() {
  before_reference_ = joints(reference_);
  before_other_ = joints(other_);
}

std::vector<DynamicsProbe::Joint> DynamicsProbe::evaluate(reason::Reasoner& reasoner,
                                                          const std::vector<Joint>& from) {
  const int64_t boards = std::ssize(boards_);
  DRIFTLESS_ASSERT(reasoner.slot_count() >= 2 * boards);
  std::vector<int64_t> slots(boards_.size());
  std::iota(slots.begin(), slots.end(), boards);
  for (size_t i = 0; i < boards_.size(); ++i) {
    const std::span<const float> both(from[i]);
    reasoner.reset(slots[i], boards_[i]);
    reasoner.set_states(slots[i],
                        {.h = both.first(both.size() / 2), .l = both.last(both.size() / 2)});
  }
  reasoner.step(slots);
  std::vector<Joint> after;
  after.reserve(slots.size());
  for (const int64_t slot : slots) after.push_back(joint(reasoner.states(slot)));
  return after;
}

std::vector<double> DynamicsProbe::stretch_perturbations(
    const std::vector<Joint>& after_reference) {
  std::vector<Joint> perturbed = before_reference_;
  for (size_t i = 0; i < perturbed.size(); ++i)
    for (size_t k = 0; k < perturbed[i].size(); ++k) perturbed[i][k] += states_[i].perturbation[k];
  const std::vector<Joint> after = evaluate(reference_, perturbed);
  std::vector<double> stretches;
  stretches.reserve(states_.size());
  for (size_t i = 0; i < states_.size(); ++i) {
    // Rounding of the sum above makes the perturbation that was applied a little different.
    const double applied = distance(perturbed[i], before_reference_[i]);
    Joint moved = minus(after[i], after_reference[i]);
    const double length = norm(moved);
    stretches.push_back(applied == 0 ? 0 : length / applied);
    if (length == 0) continue;
    scale_to(moved, kPerturbation * norm(after_reference[i]));
    states_[i].perturbation = std::move(moved);
  }
  return stretches;
}

void DynamicsProbe::after_step(int64_t step, int64_t steps, Tally& tally) {
  const std::vector<Joint> after_reference = joints(reference_);
  const std::vector<Joint> after_other = joints(other_);
  const std::vector<Joint> f_of_other = evaluate(reference_, before_other_);
  const std::vector<Joint> g_of_reference = evaluate(other_, before_reference_);
  const std::vector<double> stretches = stretch_perturbations(after_reference);
  for (size_t i = 0; i < states_.size(); ++i) {
    BoardState& board = states_[i];
    const Joint error = minus(after_other[i], f_of_other[i]);
    const double epsilon = norm(error);
    tally.add(dynamics_name("epsilon"), step, epsilon);
    tally.add(dynamics_name("L"), step, stretches[i]);
    const double apart = distance(before_other_[i], before_reference_[i]);
    if (apart > 0) {
      const Joint error_at_reference = minus(g_of_reference[i], after_reference[i]);
      tally.add(dynamics_name("delta"), step, distance(error, error_at_reference) / apart);
      tally.add(dynamics_name("L_path"), step, distance(f_of_other[i], after_reference[i]) / apart);
    }
    for (size_t k = 0; k < error.size(); ++k) board.error_sum[k] += static_cast<double>(error[k]);
    board.epsilon_sum += epsilon;
    if (step >= steps / 2) {
      board.late_epsilon_sum += epsilon;
      board.late_log_modulus += std::log(std::max(stretches[i], kLeastStretch));
      ++board.late_steps;
    }
    if (step == steps - 1)
      finish_board(board, distance(after_other[i], after_reference[i]), steps, tally);
  }
}

void DynamicsProbe::finish_board(const BoardState& board, double observed, int64_t steps,
                                 Tally& tally) const {
  const double modulus = std::exp(board.late_log_modulus / static_cast<double>(board.late_steps));
  const double epsilon = board.late_epsilon_sum / static_cast<double>(board.late_steps);
  double squares = 0;
  for (const double value : board.error_sum) squares += value * value;
  const double mean_error = std::sqrt(squares) / static_cast<double>(steps);
  tally.add(dynamics_name("modulus"), 0, modulus);
  tally.add(dynamics_name("is_contractive"), 0, modulus < 1 ? 1 : 0);
  tally.add(dynamics_name("mean_epsilon"), 0, epsilon);
  tally.add(dynamics_name("mean_error"), 0, mean_error);
  if (board.epsilon_sum > 0)
    tally.add(dynamics_name("bias_share"), 0,
              mean_error * static_cast<double>(steps) / board.epsilon_sum);
  if (modulus >= 1) return;
  tally.add(dynamics_name("predicted"), 0, epsilon / (1 - modulus));
  tally.add(dynamics_name("observed"), 0, observed);
}

}  // namespace driftless::study
