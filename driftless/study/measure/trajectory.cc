// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/trajectory.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/reason/halting.h"
#include "driftless/reason/readout.h"
#include "driftless/study/measure/metrics.h"

namespace driftless::study {
namespace {

double joint(double a, double b) { return std::sqrt(a * a + b * b); }

template <class Path>
double residual(const Path& before, const reason::States& after) {
  return joint(distance(before.h, after.h), distance(before.l, after.l));
}

template <class Path>
void remember(Path& path, const reason::States& states) {
  path.h.assign(states.h.begin(), states.h.end());
  path.l.assign(states.l.begin(), states.l.end());
}

double cell_share(const task::Example& example, std::span<const uint8_t> answer) {
  return task::matching_cells(example.label, answer).value();
}

}  // namespace

std::string displacement_name(int64_t step) { return "displacement." + std::to_string(step); }

TrajectoryProbe::TrajectoryProbe(const model::ModelConfig& config, const task::Task& task,
                                 int64_t boards, Coherence coherence)
    : config_(config), task_(task), coherence_(coherence), boards_(static_cast<size_t>(boards)) {}

void TrajectoryProbe::start(int64_t index, const reason::States& reference,
                            const reason::States& other) {
  BoardPaths& paths = boards_.at(static_cast<size_t>(index));
  paths = {};
  remember(paths.reference, reference);
  remember(paths.other, other);
}

void TrajectoryProbe::observe(int64_t index, int64_t step, Position position,
                              const task::Example& example, const Snapshot& reference,
                              const Snapshot& other, Tally& tally) {
  BoardPaths& paths = boards_.at(static_cast<size_t>(index));
  compare_states(paths, step, reference, other, tally);
  compare_displacement(paths, step, reference, other, tally);
  compare_answers(paths, step, example, reference, other, tally);
  if (position == Position::Middle) return;
  tally.add(kHaltStepDiffers, 0, paths.reference.halt_step != paths.other.halt_step ? 1 : 0);
  tally.add(kPathFidelity, 0, paths.fidelity_sum / static_cast<double>(step + 1));
}

void TrajectoryProbe::compare_states(BoardPaths& paths, int64_t step, const Snapshot& reference,
                                     const Snapshot& other, Tally& tally) const {
  const reason::States& a = reference.states;
  const reason::States& b = other.states;
  const double norm_a = joint(norm(a.h), norm(a.l));
  const double norm_b = joint(norm(b.h), norm(b.l));
  tally.add("state_norm", step, norm(a.l));
  tally.add("answer_divergence", step, distance(a.h, b.h));
  tally.add("logit_divergence", step, distance(reference.readout.logits, other.readout.logits));
  const double fidelity = cosine(dot(a.h, b.h) + dot(a.l, b.l), norm_a, norm_b);
  tally.add("fidelity", step, fidelity);
  paths.fidelity_sum += fidelity;
  tally.add("residual", step, residual(paths.other, b));
  tally.add("float_residual", step, residual(paths.reference, a));
  remember(paths.reference, a);
  remember(paths.other, b);
}

void TrajectoryProbe::compare_displacement(BoardPaths& paths, int64_t step,
                                           const Snapshot& reference, const Snapshot& other,
                                           Tally& tally) const {
  const size_t size = reference.states.l.size();
  std::vector<float> displacement(size);
  for (size_t i = 0; i < size; ++i) displacement[i] = other.states.l[i] - reference.states.l[i];
  const double length = norm(displacement);
  tally.add("latent_divergence", step, length);
  if (step > 0)
    tally.add("step_cosine", step,
              cosine(dot(displacement, paths.displacement), length, paths.displacement_norm));
  if (coherence_ == Coherence::Measure) {
    const std::vector<double> wide(displacement.begin(), displacement.end());
    tally.add_vector(displacement_name(step), wide);
  }
  paths.displacement = std::move(displacement);
  paths.displacement_norm = length;
}

void TrajectoryProbe::compare_answers(BoardPaths& paths, int64_t step, const task::Example& example,
                                      const Snapshot& reference, const Snapshot& other,
                                      Tally& tally) const {
  const std::vector<uint8_t> a = reason::answer_of(reference.readout, config_.vocab_size);
  const std::vector<uint8_t> b = reason::answer_of(other.readout, config_.vocab_size);
  const bool is_right_a = task_.check(example, a) == task::Outcome::Exact;
  const bool is_right_b = task_.check(example, b) == task::Outcome::Exact;
  tally.add("float_exact", step, is_right_a ? 1 : 0);
  tally.add("exact", step, is_right_b ? 1 : 0);
  tally.add("lost", step, is_right_a && !is_right_b ? 1 : 0);
  tally.add("gained", step, !is_right_a && is_right_b ? 1 : 0);
  tally.add("float_cells", step, cell_share(example, a));
  tally.add("cells", step, cell_share(example, b));
  const bool halts_a = reason::wants_halt(config_, reference.readout);
  const bool halts_b = reason::wants_halt(config_, other.readout);
  tally.add("halt_flip", step, halts_a != halts_b ? 1 : 0);
  if (halts_a && paths.reference.halt_step == 0) paths.reference.halt_step = step + 1;
  if (halts_b && paths.other.halt_step == 0) paths.other.halt_step = step + 1;
}

std::vector<StepCoherence> coherence(const Tally& tally, int64_t steps) {
  std::vector<StepCoherence> result;
  std::span<const double> before;
  double before_norm = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const std::span<const double> sum = tally.vector(displacement_name(step));
    if (sum.empty()) return {};
    double squares = 0;
    double product = 0;
    for (size_t i = 0; i < sum.size(); ++i) {
      squares += sum[i] * sum[i];
      if (step > 0) product += sum[i] * before[i];
    }
    const double length = std::sqrt(squares);
    const double norms = tally.series("latent_divergence")[static_cast<size_t>(step)].sum;
    result.push_back({.across_boards = norms == 0 ? 0 : length / norms,
                      .direction_cosine = step == 0 ? 1 : cosine(product, length, before_norm)});
    before = sum;
    before_norm = length;
  }
  return result;
}

}  // namespace driftless::study
