// SPDX-License-Identifier: Apache-2.0
// libtorch against the CPU engine on the same checkpoints and boards, step by step, for every
// architecture.
//
// Tolerance: both are float32 with their own order of sums. As in the engine's test, the
// double-precision reference runs a second time with noise after each sublayer, as large as the
// bound of float32's rounding error there; the distance between the two runs is what rounding may
// do to a model. Each backend must end closer to the clean run than that, so by the triangle
// inequality the backends differ by less than twice as much.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/lab/torch_reasoner.h"
#include "driftless/model/schedule.h"
#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"
#include "tests/simulate/reference.h"
#include "tests/testing/expect_error.h"

namespace driftless {
namespace {

using reason::Point;
using simulate::testing::NamedConfig;
using simulate::testing::Reference;

constexpr int64_t kSteps = 2;
constexpr int64_t kBoards = 2;

double rms(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double squares = 0;
  for (size_t i = 0; i < b.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares / static_cast<double>(b.size()));
}

/// Everything an observer can see of one step, pieces joined, by point, slot, call and layer.
struct Everything : reason::StepObserver {
  using Key = std::tuple<Point, int64_t, int64_t, std::string>;
  [[nodiscard]] bool wants(Point) const override { return true; }
  void observe(const reason::Observation& o) override {
    std::vector<double>& values = seen[{o.point, o.slot, o.call, std::string(o.layer)}];
    for (int64_t row = 0; row < o.values.rows; ++row)
      for (int64_t column = 0; column < o.values.columns; ++column)
        values.push_back(static_cast<double>(o.values.at(row, column)));
  }
  std::map<Key, std::vector<double>> seen;
};

struct Board {
  std::vector<uint8_t> tokens;
  int64_t puzzle;
  uint64_t seed;
};

class Backends : public ::testing::TestWithParam<NamedConfig> {
 protected:
  Backends() : checkpoint_(simulate::testing::random_checkpoint(GetParam().config, 7)) {
    for (int64_t i = 0; i < kBoards; ++i) {
      const auto seed = static_cast<uint64_t>(i);
      const int64_t puzzle = config().puzzle_emb_len > 0 ? i : 0;
      boards_.push_back({simulate::testing::random_tokens(config(), 8 + seed), puzzle, 5 + seed});
      clean_.emplace_back(checkpoint_, 0).reset(boards_.back().tokens, puzzle, 5 + seed);
      disturbed_.emplace_back(checkpoint_, 1).reset(boards_.back().tokens, puzzle, 5 + seed);
    }
  }

  [[nodiscard]] const model::ModelConfig& config() const { return GetParam().config; }
  void reset(reason::Reasoner& reasoner) const {
    for (int64_t i = 0; i < kBoards; ++i) {
      const Board& board = boards_[static_cast<size_t>(i)];
      reasoner.reset(i, {.tokens = board.tokens, .puzzle = board.puzzle, .seed = board.seed});
    }
  }
  static std::vector<double> outputs(const reason::Reasoner& reasoner, int64_t slot) {
    const reason::Readout readout = reasoner.read(slot);
    std::vector<double> all(readout.logits.begin(), readout.logits.end());
    all.insert(all.end(), {readout.halt_logit, readout.continue_logit});
    return all;
  }

  store::Checkpoint checkpoint_;
  std::vector<Board> boards_;
  std::vector<Reference> clean_, disturbed_;
};

TEST_P(Backends, AgreeStepByStep) {
  const auto cpu = simulate::make_cpu_reasoner(checkpoint_, {.slots = kBoards, .threads = 1});
  // Seen by an observer, unseen, and one slot at a time: three ways through the backend.
  const auto watched = lab::make_torch_reasoner(checkpoint_, {.slots = kBoards});
  const auto together = lab::make_torch_reasoner(checkpoint_, {.slots = kBoards});
  const auto alone = lab::make_torch_reasoner(checkpoint_, {.slots = kBoards});
  for (reason::Reasoner* reasoner : {cpu.get(), watched.get(), together.get(), alone.get()})
    reset(*reasoner);
  const std::vector<int64_t> slots = {0, 1};
  for (int64_t step = 1; step <= kSteps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Everything of_cpu, of_torch;
    cpu->step(slots, &of_cpu);
    watched->step(slots, &of_torch);
    together->step(slots);
    for (const int64_t slot : {1, 0}) alone->step(std::vector<int64_t>{slot});
    double state_bound = 0;
    for (int64_t slot = 0; slot < kBoards; ++slot) {
      Reference& clean = clean_[static_cast<size_t>(slot)];
      Reference& disturbed = disturbed_[static_cast<size_t>(slot)];
      clean.step();
      disturbed.step();
      const double output_bound = rms(disturbed.outputs, clean.outputs);
      const double h_bound = rms(disturbed.z_h.values, clean.z_h.values);
      const double l_bound = rms(disturbed.z_l.values, clean.z_l.values);
      EXPECT_LT(output_bound, 1e-2) << "too wide to tell right from wrong";
      for (reason::Reasoner* torch : {watched.get(), together.get(), alone.get()}) {
        EXPECT_LT(rms(outputs(*torch, slot), clean.outputs), output_bound);
        EXPECT_LT(rms(outputs(*torch, slot), outputs(*cpu, slot)), 2 * output_bound);
        const reason::States states = torch->states(slot);
        EXPECT_LT(rms({states.h.begin(), states.h.end()}, clean.z_h.values), h_bound);
        EXPECT_LT(rms({states.l.begin(), states.l.end()}, clean.z_l.values), l_bound);
      }
      state_bound = std::max({state_bound, h_bound, l_bound});
    }
    // Every point of every call and layer. A linear input is a state, an attention output or an
    // activation: no layer before it multiplies the disturbance by more than its largest gain,
    // which for weights of deviation 1 / sqrt(fan in) stays below 8 with SwiGLU's product of two.
    ASSERT_EQ(of_cpu.seen.size(), of_torch.seen.size());
    for (const auto& [key, values] : of_cpu.seen)
      EXPECT_LT(rms(of_torch.seen[key], values), 2 * 8 * state_bound)
          << "point " << static_cast<int>(std::get<0>(key)) << ", call " << std::get<2>(key) << " "
          << std::get<3>(key);
  }
}

TEST_P(Backends, ContinueEachOthersPaths) {
  const auto cpu = simulate::make_cpu_reasoner(checkpoint_, {.slots = kBoards, .threads = 1});
  const auto torch = lab::make_torch_reasoner(checkpoint_, {.slots = kBoards});
  reset(*cpu);
  reset(*torch);
  const std::vector<int64_t> slots = {0, 1};
  cpu->step(slots);
  for (const int64_t slot : slots) {
    const reason::States states = cpu->states(slot);
    torch->set_states(slot, states);
    const reason::States copied = torch->states(slot);
    EXPECT_TRUE(std::equal(states.h.begin(), states.h.end(), copied.h.begin(), copied.h.end()));
    EXPECT_TRUE(std::equal(states.l.begin(), states.l.end(), copied.l.begin(), copied.l.end()));
  }
  const std::vector<float> short_of_one(torch->states(0).h.size() - 1);
  testing::expect_error(ErrorCode::InvalidArgument, "slot 0: state",
                        [&] { torch->set_states(0, {.h = short_of_one, .l = short_of_one}); });
}

INSTANTIATE_TEST_SUITE_P(All, Backends, ::testing::ValuesIn(simulate::testing::named_configs()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace driftless
