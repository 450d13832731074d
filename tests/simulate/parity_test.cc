// SPDX-License-Identifier: Apache-2.0
// The engine against the double-precision reference, step by step, for every architecture.
//
// Tolerance: a recursion amplifies what each call adds, by a factor that depends on the weights. It
// is measured rather than guessed: the reference runs a second time with noise after each sublayer,
// as large as the bound of float32's rounding error in that sublayer. Real rounding errors lie far
// below the bound (they grow with the root of a sum's length, the bound with the length), so the
// engine must end closer to the clean reference than the disturbed one does.
#include <gtest/gtest.h>

#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"
#include "tests/simulate/reference.h"

namespace driftless::simulate {
namespace {

using testing::NamedConfig;
using testing::Reference;

constexpr int64_t kReferenceSteps = 3;

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

/// The nearest number of 8 significant bits, ties to even.
template <class Value>
void round_to_bf16(std::vector<Value>& values) {
  for (Value& value : values) {
    int exponent = 0;
    const double fraction = std::frexp(static_cast<double>(value), &exponent);
    value = static_cast<Value>(std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8));
  }
}

/// With the weights that are rounded in bf16: those of the linear layers except the halt head.
store::Checkpoint rounded(store::Checkpoint checkpoint) {
  for (auto& [name, tensor] : checkpoint.tensors)
    if (name.ends_with("_proj.weight") || name == "lm_head.weight") round_to_bf16(tensor.values);
  return checkpoint;
}

class Parity : public ::testing::TestWithParam<NamedConfig> {
 protected:
  explicit Parity(const model::ModelConfig& of = GetParam().config) : config(of) {
    model::validate(config, GetParam().name);
  }

  void reset(Reference& reference) const { reference.reset(tokens, puzzle, kSeed); }
  void step(reason::Reasoner& engine) {
    const std::vector<int64_t> slots = {1};
    engine.step(slots, &seen);
    const reason::Readout readout = engine.read(1);
    outputs.assign(readout.logits.begin(), readout.logits.end());
    outputs.insert(outputs.end(), {readout.halt_logit, readout.continue_logit});
  }
  [[nodiscard]] std::unique_ptr<reason::Reasoner> make_engine(Dtype dtype) const {
    auto engine = make_cpu_reasoner(checkpoint, {.slots = 2, .threads = 1, .dtype = dtype});
    engine->reset(1, {.tokens = tokens, .puzzle = puzzle, .seed = kSeed});
    return engine;
  }

  static constexpr uint64_t kSeed = 5;
  const model::ModelConfig config;
  const store::Checkpoint checkpoint = testing::random_checkpoint(config, 7);
  const std::vector<uint8_t> tokens = testing::random_tokens(config, 8);
  const int64_t puzzle = config.puzzle_emb_len > 0 ? 2 : 0;
  StateObserver seen;
  std::vector<float> outputs;
};

TEST_P(Parity, FollowsTheReferenceStepByStep) {
  Reference clean(checkpoint, 0), disturbed(checkpoint, 1);
  reset(clean);
  reset(disturbed);
  const auto engine = make_engine(Dtype::Float32);
  for (int64_t number = 1; number <= kReferenceSteps; ++number) {
    SCOPED_TRACE("step " + std::to_string(number));
    clean.step();
    disturbed.step();
    step(*engine);
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

// A reference that rounds what is multiplied lies a distance from the exact one. The engine differs
// from it only where float32 sums turn a rounding over: one value in thousands at first, but each
// of them moves many values of the next layer a little, so that ever more are turned. Hence the
// state after the first call only. Without the rounding of either operand, the engine would be 0.7
// of the distance away; half of it is asked for.
class ShortParity : public Parity {
 protected:
  ShortParity() : Parity(one_cycle(GetParam().config)) {}

  static model::ModelConfig one_cycle(model::ModelConfig config) {
    config.h_cycles = config.l_cycles = 1;
    return config;
  }
};

TEST_P(ShortParity, RoundsWhatIsMultipliedInBf16) {
  Reference exact(checkpoint, 0), rounding(rounded(checkpoint), 0);
  rounding.on_input = [](const std::string& layer, testing::Matrix& input) {
    if (layer != "q_head.weight") round_to_bf16(input.values);
  };
  rounding.on_operand = [](testing::Matrix& operand) { round_to_bf16(operand.values); };
  for (Reference* reference : {&exact, &rounding}) {
    reset(*reference);
    reference->step();
  }
  step(*make_engine(Dtype::BFloat16));
  EXPECT_LT(rms_difference(seen.z_l, rounding.z_l.values),
            0.5 * rms_difference(exact.z_l.values, rounding.z_l.values));
}

INSTANTIATE_TEST_SUITE_P(All, Parity, ::testing::ValuesIn(testing::named_configs()),
                         [](const auto& param) { return param.param.name; });
INSTANTIATE_TEST_SUITE_P(All, ShortParity, ::testing::ValuesIn(testing::named_configs()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace driftless::simulate
