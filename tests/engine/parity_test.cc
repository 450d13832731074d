// SPDX-License-Identifier: Apache-2.0
// The engine against the double-precision reference, step by step, for every architecture.
//
// Tolerance: a recursion amplifies what each call adds, by a factor that depends on the weights. It
// is measured rather than guessed: the reference runs a second time with noise after each sublayer,
// as large as the bound of float32's rounding error in that sublayer. Real rounding errors lie far
// below the bound (they grow with the root of a sum's length, the bound with the length), so the
// engine must end closer to the clean reference than the disturbed one does.
#include <gtest/gtest.h>

#include "driftless/engine/cpu_reasoner.h"

#include "tests/engine/random_model.h"
#include "tests/engine/reference.h"

namespace driftless::engine {
namespace {

using testing::NamedConfig;
using testing::Reference;

constexpr int64_t kSteps = 3;

template <class Values>
double rms_difference(const Values& a, const std::vector<double>& b) {
  double squares = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    squares += difference * difference;
  }
  return std::sqrt(squares / static_cast<double>(b.size()));
}

/// Keeps the states as they are after the last call of a step.
struct StateObserver : reason::StepObserver {
  [[nodiscard]] bool wants(reason::Point point) const override {
    return point == reason::Point::StateH || point == reason::Point::StateL;
  }
  void observe(const reason::Observation& seen) override {
    std::vector<float>& state = seen.point == reason::Point::StateH ? z_h : z_l;
    state.clear();
    for (int64_t row = 0; row < seen.values.rows; ++row)
      for (int64_t column = 0; column < seen.values.columns; ++column)
        state.push_back(seen.values.at(row, column));
  }
  std::vector<float> z_h, z_l;
};

class Parity : public ::testing::TestWithParam<NamedConfig> {};

TEST_P(Parity, FollowsTheReferenceStepByStep) {
  const model::ModelConfig& config = GetParam().config;
  model::validate(config, GetParam().name);
  const store::Checkpoint checkpoint = testing::random_checkpoint(config, 7);
  const std::vector<uint8_t> tokens = testing::random_tokens(config, 8);
  const int64_t puzzle = config.puzzle_emb_len > 0 ? 2 : 0;
  Reference clean(checkpoint, 0);
  Reference disturbed(checkpoint, 1);
  clean.reset(tokens, puzzle, 5);
  disturbed.reset(tokens, puzzle, 5);
  const auto engine = make_cpu_reasoner(checkpoint, {.slots = 2, .threads = 1});
  engine->reset(1, {.tokens = tokens, .puzzle = puzzle, .seed = 5});

  for (int64_t step = 1; step <= kSteps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    clean.step();
    disturbed.step();
    StateObserver seen;
    const std::vector<int64_t> slots = {1};
    engine->step(slots, &seen);
    const reason::Readout readout = engine->read(1);
    std::vector<float> outputs(readout.logits.begin(), readout.logits.end());
    outputs.insert(outputs.end(), {readout.halt_logit, readout.continue_logit});

    ASSERT_EQ(outputs.size(), clean.outputs.size());
    const double tolerance = rms_difference(disturbed.z_h.values, clean.z_h.values);
    EXPECT_LT(tolerance, 1e-2) << "too wide to tell right from wrong";
    EXPECT_LT(rms_difference(seen.z_h, clean.z_h.values), tolerance);
    EXPECT_LT(rms_difference(seen.z_l, clean.z_l.values),
              rms_difference(disturbed.z_l.values, clean.z_l.values));
    EXPECT_LT(rms_difference(outputs, clean.outputs),
              rms_difference(disturbed.outputs, clean.outputs));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Parity, ::testing::ValuesIn(testing::named_configs()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace driftless::engine
