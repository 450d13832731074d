// SPDX-License-Identifier: Apache-2.0
// Simulated quantization: what the layers multiply is, bit for bit, what the scalar truth makes of
// their inputs and weights, and the products use it.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "driftless/model/schedule.h"
#include "driftless/quant/quantizer.h"
#include "driftless/reason/plan/calibrate.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/run.h"
#include "driftless/simulate/cpu_reasoner.h"
#include "driftless/simulate/product/products.h"

#include "tests/simulate/random_model.h"
#include "tests/simulate/reference.h"
#include "tests/testing/expect_error.h"

namespace driftless::simulate {
namespace {

using quant::QuantPlan;
using quant::Scheme;
using reason::Point;

constexpr uint64_t kSeed = 5;

struct NamedScheme {
  std::string name;
  Scheme scheme;
};

Scheme scheme(std::string_view weights, std::string_view acts) {
  return {.weights = quant::parse_quant_spec(weights),
          .acts = quant::parse_quant_spec(acts),
          .coverage = quant::Coverage::Linear};
}

std::vector<NamedScheme> named_schemes() {
  std::vector<NamedScheme> schemes = {
      {"Mxint4", scheme("mxint4", "mxint4")},
      {"Mxint4Mse", scheme("mxint4,rule=mse", "mxint4,rule=mse")},
      {"Mxfp4Block16", scheme("mxfp4", "mxfp4,block=16")},
      {"Nvfp4", scheme("nvfp4", "nvfp4")},
      {"Int4Dynamic", scheme("int4", "int4")},
      {"Int4Token", scheme("int4/channel", "int4/token")},
      {"Int4Group32", scheme("int4/group32", "int4/group32")},
      {"Uint4Group7", scheme("uint4/channel", "uint4/group7")},
      {"Fp4TokenMse", scheme("fp4_e2m1/channel,calib=mse", "fp4_e2m1/token,calib=p90")},
      {"Bf16", scheme("bf16", "bf16")},
      {"Int4Static", scheme("int4", "int4/tensor/static")},
      {"Int8StaticRole", scheme("int8", "int8/tensor/static,calib=p90")},
      {"Uint4StaticCall", scheme("int4", "uint4/tensor/static,calib=mse")},
      {"Mxint4Delta", scheme("mxint4", "mxint4")},
      {"Int4Delta", scheme("int4", "int4")},
      {"S4m3Delta", scheme("mxint4", "int4_full/block32,scale=s4m3")},
  };
  const auto named = [&](std::string_view name) -> Scheme& {
    return std::find_if(schemes.begin(), schemes.end(),
                        [&](const NamedScheme& scheme) { return scheme.name == name; })
        ->scheme;
  };
  for (const char* changes : {"Mxint4Delta", "Int4Delta", "S4m3Delta"}) named(changes).delta = true;
  named("Int8StaticRole").sharing = quant::ScaleSharing::Role;
  named("Uint4StaticCall").sharing = quant::ScaleSharing::Call;
  return schemes;
}

std::vector<uint8_t> tokens_of(const model::ModelConfig& config, uint64_t board) {
  return testing::random_tokens(config, 100 + board);
}

QuantPlan calibrated_plan(const store::Checkpoint& checkpoint, const Scheme& scheme) {
  QuantPlan plan = quant::resolve(scheme, reason::linear_layers(checkpoint.config));
  const std::vector<uint8_t> tokens = tokens_of(checkpoint.config, 9);
  // Two steps are enough and quick.
  store::Checkpoint short_run = checkpoint;
  short_run.config.halt_max_steps = 2;
  const auto make = [&](const QuantPlan* transforms) {
    return make_cpu_reasoner(short_run, {.slots = 1, .plan = transforms});
  };
  reason::calibrate(make, std::vector<reason::Board>{{.tokens = tokens}}, plan);
  return plan;
}

/// The whole input of a layer in one call, put together from the pieces that the engine shows.
using Key = std::pair<std::string, int64_t>;
struct InputRecorder : reason::StepObserver {
  struct Rows {
    int64_t columns = 0;
    std::vector<float> values;
  };
  [[nodiscard]] bool wants(Point point) const override {
    return point == Point::LinearInput || point == Point::QuantizedInput;
  }
  void observe(const reason::Observation& seen) override {
    auto& inputs = seen.point == Point::LinearInput ? exact : quantized;
    Rows& rows = inputs[{std::string(seen.layer), seen.call}];
    rows.columns = seen.values.columns;
    const auto end = static_cast<size_t>((seen.first_row + seen.values.rows) * rows.columns);
    if (rows.values.size() < end) rows.values.resize(end);
    for (int64_t r = 0; r < seen.values.rows; ++r)
      for (int64_t c = 0; c < rows.columns; ++c)
        rows.values[static_cast<size_t>((seen.first_row + r) * rows.columns + c)] =
            seen.values.at(r, c);
  }
  std::map<Key, Rows> exact, quantized;
};

/// The scalar truth: codes and back, on the kernels that call it value by value.
std::vector<float> scalar_truth(const quant::QuantSpec& spec, std::vector<quant::Scale> scales,
                                const std::vector<float>& values, int64_t columns) {
  if (spec.is_none()) return values;
  quant::Quantizer quantizer(spec, std::move(scales));
  quantizer.use_kernels(quant::kScalarKernels);
  const int64_t rows = std::ssize(values) / columns;
  std::vector<float> out(values.size());
  if (spec.format->element.bits > 8)
    quantizer.fake_quantize({values.data(), rows, columns}, {out.data(), rows, columns});
  else
    quant::dequantize(quantizer.quantize({values.data(), rows, columns}),
                      {out.data(), rows, columns});
  return out;
}

/// What inputs stand for that are quantized as they are or as changes: sums of changes by layer and
/// by the state that its calls update.
class QuantizedInputs {
 public:
  QuantizedInputs(const QuantPlan& plan, int64_t l_cycles) : plan_(plan), l_cycles_(l_cycles) {}

  /// In a board's first step, whose first round has two passes.
  std::vector<float> of(const std::string& layer, const model::NetworkCall& call, int64_t index,
                        const InputRecorder::Rows& exact) {
    const quant::LayerPlan& planned = *plan_.find(layer);
    std::vector<quant::Scale> scales;
    if (planned.needs_scales()) scales = {planned.scale_of_call(index)};
    if (!planned.delta) return scalar_truth(planned.acts, scales, exact.values, exact.columns);
    std::vector<float>& sum = sums_[{layer, call.updates}];
    sum.resize(exact.values.size());
    const int passes = index <= l_cycles_ ? 2 : 1;
    for (int pass = 0; pass < passes; ++pass) {
      std::vector<float> change = exact.values;
      for (size_t i = 0; i < sum.size(); ++i) change[i] -= sum[i];
      change = scalar_truth(planned.acts, scales, change, exact.columns);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += change[i];
    }
    return sum;
  }

 private:
  const QuantPlan& plan_;
  int64_t l_cycles_;
  std::map<std::pair<std::string, model::State>, std::vector<float>> sums_;
};

/// The same weights by the slow path, in a checkpoint of their own.
store::Checkpoint slowly_quantized(store::Checkpoint checkpoint, const QuantPlan& plan) {
  for (const quant::LayerPlan& layer : plan.layers) {
    store::Tensor& weight = checkpoint.tensors.at(layer.name);
    weight.values = scalar_truth(layer.weights, {}, weight.values, weight.shape[1]);
  }
  return checkpoint;
}

std::vector<float> outputs_after(reason::Reasoner& reasoner, int64_t steps, int64_t slot = 0) {
  const std::vector<int64_t> slots = {slot};
  for (int64_t step = 0; step < steps; ++step) reasoner.step(slots);
  const reason::Readout readout = reasoner.read(slot);
  std::vector<float> outputs(readout.logits.begin(), readout.logits.end());
  outputs.insert(outputs.end(), {readout.halt_logit, readout.continue_logit});
  return outputs;
}

std::vector<float> run_board(const store::Checkpoint& checkpoint, const QuantPlan* plan,
                             int64_t steps) {
  const auto reasoner = make_cpu_reasoner(checkpoint, {.slots = 1, .plan = plan});
  reasoner->reset(0, {.tokens = tokens_of(checkpoint.config, 1), .seed = kSeed});
  return outputs_after(*reasoner, steps);
}

class Simulation : public ::testing::TestWithParam<std::tuple<testing::NamedConfig, NamedScheme>> {
 protected:
  const model::ModelConfig& config() const { return std::get<0>(GetParam()).config; }
  store::Checkpoint checkpoint_ = testing::random_checkpoint(config(), 7);
  QuantPlan plan_ = calibrated_plan(checkpoint_, std::get<1>(GetParam()).scheme);
};

TEST_P(Simulation, InputsAreTheScalarTruthAndProductsUseThem) {
  const auto reasoner = make_cpu_reasoner(checkpoint_, {.slots = 2, .plan = &plan_});
  const auto tokens = tokens_of(config(), 1);
  reasoner->reset(1, {.tokens = tokens, .seed = kSeed});
  InputRecorder seen;
  reasoner->step(std::vector<int64_t>{1}, &seen);

  // In double precision, the same step with the inputs that the engine multiplied.
  testing::Reference reference(slowly_quantized(checkpoint_, plan_), 0);
  reference.reset(tokens, 0, kSeed);
  const auto schedule = model::schedule(config());
  const int64_t calls = std::ssize(schedule);
  std::map<std::string, int64_t> applications;
  QuantizedInputs expected(plan_, config().l_cycles);
  double largest_gap = 0;
  reference.on_input = [&](const std::string& layer, testing::Matrix& input) {
    // Which call this is: the n-th of the calls of the layer's network; the heads come last.
    int64_t call = calls - 1;
    const int64_t nth = applications[layer]++;
    const auto networks = model::networks(config());
    for (size_t network = 0; network < networks.size(); ++network) {
      if (!layer.starts_with(networks[network].name + ".")) continue;
      int64_t left = nth;
      for (call = 0; call < calls; ++call)
        if (schedule[static_cast<size_t>(call)].network == static_cast<int64_t>(network) &&
            left-- == 0)
          break;
    }
    const auto& exact = seen.exact.at({layer, call});
    const auto& quantized = seen.quantized.at({layer, call});
    ASSERT_EQ(exact.values.size(), input.values.size()) << layer;
    ASSERT_EQ(quantized.values,
              expected.of(layer, schedule[static_cast<size_t>(call)], call, exact))
        << layer << ", call " << call;
    double squares = 0;
    double gap = 0;
    for (size_t i = 0; i < exact.values.size(); ++i) {
      const double difference = exact.values[i] - input.values[i];
      gap += difference * difference;
      squares += input.values[i] * input.values[i];
    }
    largest_gap = std::max(largest_gap, std::sqrt(gap / squares));
    input.values.assign(quantized.values.begin(), quantized.values.end());
  };
  reference.step();

  // Products agree up to float32's rounding: n + 16 units of 2^-24 a sublayer (see reference.h),
  // and the residual path adds up those of all sublayers of the step. The products of SwiGLU and
  // attention are as far from their factors as a handful of such errors.
  const int64_t longest = std::max<int64_t>(model::positions_count(config()), 768);
  const double bound = 4 * static_cast<double>(calls * 6 * (longest + 16)) * 0x1p-24;
  EXPECT_LT(largest_gap, bound);
  // Unquantized inputs would miss that by far.
  EXPECT_LT(bound, 0.01);
  EXPECT_EQ(seen.exact.size(), seen.quantized.size());
  const reason::Readout readout = reasoner->read(1);
  double output_gap =
      std::abs(readout.halt_logit - reference.outputs[reference.outputs.size() - 2]);
  for (size_t i = 0; i < readout.logits.size(); ++i)
    output_gap = std::max(output_gap, std::abs(readout.logits[i] - reference.outputs[i]));
  EXPECT_LT(output_gap, 16 * bound);
}

TEST_P(Simulation, NeitherThreadsNorNeighborsNorEarlierBoardsChangeABit) {
  const std::vector<float> alone = run_board(checkpoint_, &plan_, 2);
  const auto reasoner = make_cpu_reasoner(checkpoint_, {.slots = 3, .threads = 2, .plan = &plan_});
  const std::vector<int64_t> slots = {0, 1, 2};
  for (const bool is_first_board : {true, false}) {
    for (const int64_t slot : slots)
      reasoner->reset(slot, {.tokens = tokens_of(config(), static_cast<uint64_t>(slot)),
                             .seed = slot == 1 ? kSeed : 77});
    reasoner->step(slots);
    EXPECT_EQ(outputs_after(*reasoner, 1, 1), alone) << is_first_board;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Simulation,
                         ::testing::Combine(::testing::ValuesIn(std::vector<testing::NamedConfig>{
                                                testing::named_configs()[1],
                                                testing::named_configs()[6]}),
                                            ::testing::ValuesIn(named_schemes())),
                         [](const auto& param) {
                           return std::get<0>(param.param).name + std::get<1>(param.param).name;
                         });

class EveryModel : public ::testing::TestWithParam<testing::NamedConfig> {};

TEST_P(EveryModel, FloatPlansGiveTheFloatResultToTheBit) {
  const store::Checkpoint checkpoint = testing::random_checkpoint(GetParam().config, 7);
  const std::vector<float> expected = run_board(checkpoint, nullptr, 2);
  const QuantPlan empty = quant::resolve(scheme("none", "none"), {});
  EXPECT_EQ(run_board(checkpoint, &empty, 2), expected);
  QuantPlan explicit_none;
  for (const quant::LinearLayer& layer : reason::linear_layers(GetParam().config))
    explicit_none.layers.push_back({.name = layer.name});
  EXPECT_EQ(run_board(checkpoint, &explicit_none, 2), expected);
}

TEST_P(EveryModel, QuantizedWeightsAreThoseOfTheSlowPath) {
  const store::Checkpoint checkpoint = testing::random_checkpoint(GetParam().config, 7);
  for (const char* weights : {"mxint4", "int4", "int4/channel,calib=mse", "nvfp4"}) {
    const QuantPlan plan = calibrated_plan(checkpoint, scheme(weights, "none"));
    EXPECT_EQ(run_board(checkpoint, &plan, 2),
              run_board(slowly_quantized(checkpoint, plan), nullptr, 2))
        << weights;
  }
}

TEST_P(EveryModel, TransformsAloneLeaveTheFunctionAlone) {
  const store::Checkpoint checkpoint = testing::random_checkpoint(GetParam().config, 7);
  Scheme transforms = scheme("none", "none");
  transforms.smooth = 0.5;
  transforms.hadamard = true;
  const QuantPlan plan = calibrated_plan(checkpoint, transforms);
  const std::vector<float> actual = run_board(checkpoint, &plan, 1);
  // As in parity_test.cc: closer to the clean reference than rounding at every sublayer brings it,
  // here four times as large, since inputs and weights are rounded in the transforms too.
  testing::Reference clean(checkpoint, 0);
  testing::Reference disturbed(checkpoint, 4);
  for (testing::Reference* reference : {&clean, &disturbed}) {
    reference->reset(tokens_of(GetParam().config, 1), 0, kSeed);
    reference->step();
  }
  double gap = 0;
  double tolerance = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    gap += std::pow(actual[i] - clean.outputs[i], 2);
    tolerance += std::pow(disturbed.outputs[i] - clean.outputs[i], 2);
  }
  EXPECT_LT(gap, tolerance);
}

TEST_P(EveryModel, TransformedInputsAreQuantizedByTheScalarTruth) {
  const store::Checkpoint checkpoint = testing::random_checkpoint(GetParam().config, 7);
  for (const char* acts : {"mxint4", "int4/tensor/static", "int4"}) {
    Scheme transforms = scheme("mxint4", acts);
    transforms.smooth = 0.5;
    transforms.hadamard = true;
    const QuantPlan plan = calibrated_plan(checkpoint, transforms);
    const auto reasoner = make_cpu_reasoner(checkpoint, {.slots = 1, .plan = &plan});
    reasoner->reset(0, {.tokens = tokens_of(checkpoint.config, 1), .seed = kSeed});
    InputRecorder seen;
    reasoner->step(std::vector<int64_t>{0}, &seen);
    for (const auto& [key, exact] : seen.exact) {
      const quant::LayerPlan& planned = *plan.find(key.first);
      EXPECT_EQ(seen.quantized.at(key).values,
                scalar_truth(planned.acts, planned.scales, exact.values, exact.columns))
          << key.first << ", call " << key.second << ", " << acts;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryModel, ::testing::ValuesIn(testing::named_configs()),
                         [](const auto& param) { return param.param.name; });

TEST(Simulate, QuantizesTheBiasOfTheHaltHead) {
  const store::Checkpoint checkpoint =
      testing::random_checkpoint(testing::named_configs()[0].config, 7);
  Scheme with_bias = scheme("int4", "int4/tensor/static");
  const QuantPlan as_float = calibrated_plan(checkpoint, with_bias);
  with_bias.bias = quant::BiasPrecision::Int16;
  const QuantPlan as_int16 = calibrated_plan(checkpoint, with_bias);
  const std::vector<float> a = run_board(checkpoint, &as_float, 1);
  const std::vector<float> b = run_board(checkpoint, &as_int16, 1);
  EXPECT_TRUE(std::equal(a.begin(), a.end() - 2, b.begin())) << "the logits have no bias";
  // Half a step of s_x * s_w, whose factors are absmax / 7.
  const quant::LayerPlan& planned = *as_int16.find("q_head.weight");
  float most = 0;
  for (const float w : checkpoint.tensors.at("q_head.weight").values)
    most = std::max(most, std::abs(w));
  const float step = planned.scales[0].scale * most / 7;
  EXPECT_NE(a[a.size() - 2], b[b.size() - 2]);
  EXPECT_NEAR(a[a.size() - 2], b[b.size() - 2], 0.51f * step);
}

TEST(Simulate, NeedsNoRoundingToBfloat16WhereFormatsAreExactInIt) {
  // With both operands in an mx format both number types multiply the same values, and where the
  // processor has tiles they do it in the same way.
  const store::Checkpoint checkpoint =
      testing::random_checkpoint(testing::named_configs()[0].config, 7);
  const QuantPlan plan = calibrated_plan(checkpoint, scheme("mxint8", "mxfp8_e4m3"));
  const auto inputs = [&](Dtype dtype) {
    const auto reasoner =
        make_cpu_reasoner(checkpoint, {.slots = 1, .dtype = dtype, .plan = &plan});
    reasoner->reset(0, {.tokens = tokens_of(checkpoint.config, 1)});
    InputRecorder seen;
    reasoner->step(std::vector<int64_t>{0}, &seen);
    return seen.quantized;
  };
  const auto in_bf16 = inputs(Dtype::BFloat16);
  for (const auto& [key, rows] : in_bf16)
    EXPECT_EQ(rows.values,
              scalar_truth(quant::parse_quant_spec("bf16"), {}, rows.values, rows.columns))
        << key.first;
  const bool has_tiles = has_fast_bf16();
  for (const auto& [key, rows] : inputs(Dtype::Float32))
    EXPECT_TRUE(!has_tiles || rows.values == in_bf16.at(key).values) << key.first;
}

TEST(Simulate, NamesBoardLayerAndCallOfANonFiniteInput) {
  store::Checkpoint checkpoint = testing::random_checkpoint(testing::named_configs()[0].config, 7);
  for (float& w : checkpoint.tensors.at("L_level.layers.1.mlp_t.gate_up_proj.weight").values)
    w *= 1e30f;
  const QuantPlan plan =
      quant::resolve(scheme("mxint4", "mxint4"), reason::linear_layers(checkpoint.config));
  const auto reasoner = make_cpu_reasoner(checkpoint, {.slots = 1, .plan = &plan});
  const auto tokens = tokens_of(checkpoint.config, 1);
  reasoner->reset(0, {.tokens = tokens, .number = 41});
  EXPECT_ERROR(reasoner->step(std::vector<int64_t>{0}), ErrorCode::Numeric,
               "board 41, layer 'L_level.layers.1.mlp_t.down_proj.weight', call 0");
  // Through run() the number is the index of the board.
  const auto go = [&] {
    reason::run(*reasoner, std::vector<reason::Board>{{.tokens = tokens, .number = 41}},
                {.halting = reason::find_halting("fixed"), .max_steps = 1},
                [](int64_t, const reason::Answer&) {});
  };
  EXPECT_ERROR(go(), ErrorCode::Numeric, "board 0, layer");
}

TEST(Simulate, RefusesPlansOfOtherModelsAndUncalibratedOnes) {
  const store::Checkpoint checkpoint =
      testing::random_checkpoint(testing::named_configs()[0].config, 7);
  QuantPlan plan;
  plan.layers.push_back({.name = "L_level.layers.9.mlp.down_proj.weight"});
  EXPECT_ERROR(make_cpu_reasoner(checkpoint, {.plan = &plan}), ErrorCode::BadConfig,
               "no linear layer");
  plan = quant::resolve(scheme("int4", "int4/tensor/static"),
                        reason::linear_layers(checkpoint.config));
  EXPECT_ERROR(make_cpu_reasoner(checkpoint, {.plan = &plan}), ErrorCode::InvalidArgument,
               "calibrate");
}

}  // namespace
}  // namespace driftless::simulate
