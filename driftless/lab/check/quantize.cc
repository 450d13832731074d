// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/check/quantize.h"

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include "driftless/base/error.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/net/layers.h"
#include "driftless/lab/quant/change_memory.h"
#include "driftless/lab/quant/planned_linear.h"
#include "driftless/lab/quant/quantize.h"

namespace driftless::lab {
namespace {

using formats::Format;
using formats::Scaling;
using quant::Quantizer;

void add_element_specs(const std::string& name, std::vector<std::string>& specs) {
  for (const char* granularity : {"unit", "tensor", "channel", "token", "group7", "group32"})
    specs.push_back(name + "/" + granularity);
  for (const char* calibrated : {"tensor,calib=mse", "channel,calib=mse", "group32,calib=mse",
                                 "tensor,calib=p99", "token,calib=p90", "group7,calib=p50"})
    specs.push_back(name + "/" + calibrated);
}

void add_stored_specs(const Format& format, std::vector<std::string>& specs) {
  if (format.element.bits > 8 || quant::is_asymmetric(format.element)) return;
  for (const formats::ScaleFormatName& scale : formats::scale_formats()) {
    if (!formats::suits(scale.value, format.element)) continue;
    for (const char* block : {"32", "7"})
      for (const char* more : {"", ",rule=rceil", ",rule=mse", ",window=0", ",rule=mse,window=2"})
        specs.push_back(std::string(format.name) + "/block" + block +
                        ",scale=" + std::string(scale.name) + more);
  }
}

void add_block_specs(const Format& format, std::vector<std::string>& specs) {
  const std::string name(format.name);
  for (const char* block : {"", ",block=8", ",block=16", ",block=7", ",block=256"})
    specs.push_back(name + block);
  if (format.scaling != Scaling::PowerOfTwo) return;
  for (const formats::ExponentRuleName& rule : formats::exponent_rules())
    for (const char* more : {"", ",block=5", ",window=4"})
      specs.push_back(name + ",rule=" + std::string(rule.name) + more);
}

/// Ties, zeros of both signs, subnormals and the ends of the float range; whole stretches are zero
/// or of one magnitude.
at::Tensor awkward(Rng& rng, const std::vector<int64_t>& sizes) {
  at::Tensor values = at::empty(sizes, at::kFloat);
  float* const x = values.data_ptr<float>();
  constexpr double kScales[] = {1, 1, 1, 1, 0, 0x1p-120, 0x1p-135, 0x1p-146, 0x1p119, 0x1p30};
  double scale = 1;
  for (int64_t i = 0; i < values.numel(); ++i) {
    if (i % 64 == 0) scale = kScales[rng.below(10)];
    const bool is_tie = rng.below(3) == 0;
    const double value = is_tie ? static_cast<double>(rng.below(513)) / 64 - 4 : rng.gaussian();
    const double scaled = scale * value * (rng.below(20) == 0 ? 100 : 1);
    x[i] = static_cast<float>(std::fmin(std::fmax(scaled, -FLT_MAX), FLT_MAX));
  }
  return values;
}

int64_t different_bits(const at::Tensor& got, const at::Tensor& want) {
  const at::Tensor here = got.to(at::kCPU).contiguous();
  if (here.sizes() != want.sizes() || here.scalar_type() != want.scalar_type()) return want.numel();
  const auto size = static_cast<size_t>(want.element_size());
  const auto* const a = static_cast<const uint8_t*>(here.data_ptr());
  const at::Tensor dense = want.contiguous();
  const auto* const b = static_cast<const uint8_t*>(dense.data_ptr());
  int64_t count = 0;
  for (size_t i = 0; i < static_cast<size_t>(want.numel()); ++i)
    count += std::equal(a + i * size, a + (i + 1) * size, b + i * size) ? 0 : 1;
  return count;
}

class QuantizeChecker {
 public:
  explicit QuantizeChecker(CheckKit& kit) : kit_(kit) {}

  void run() {
    Rng rng(31);
    for (const at::ScalarType type : kit_.types())
      for (const int64_t length : {64, 97, 512}) check_shape(awkward(rng, {3, 8, length}).to(type));
    check_refusal();
    for (const char* text : {"mxint4", "mxint4,rule=mse", "mxfp8_e4m3", "int8/tensor",
                             "fp4_e2m1/token", "uint8/tensor", "nvfp4", "int4/group32", "bf16",
                             "int4/block32,scale=e5m3", "int4_full/block32,scale=s4m3,window=0"})
      for (const bool is_columns : {false, true}) check_linear(text, text, is_columns);
    for (const char* text : {"mxint4", "int4/tensor", "int4/channel", "nvfp4"})
      for (const bool is_columns : {false, true}) check_linear(text, "none", is_columns);
    for (const char* text : {"mxint4", "int8/token", "int4_full/block32,scale=s4m3"})
      for (const bool is_columns : {false, true}) check_changes(text, is_columns);
    if (!kit_.device().is_cuda()) return;
    check_exact_sums();
    for (const char* text : {"mxint4", "mxfp4", "mxint4,rule=mse", "int4/block32,scale=e5m3"})
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) time_blocks(text, type);
  }

 private:
  void check_shape(const at::Tensor& values) {
    int64_t different = 0;
    int64_t compared = 0;
    std::string first;
    const at::Tensor there = values.to(kit_.device());
    const at::Tensor columns = there.transpose(1, 2).contiguous().transpose(1, 2);
    for (const Quantizer& quantizer : every_quantizer(values.size(1))) {
      const Quantized want = quantize(quantizer, values, {.mask = ClipMask::Inside});
      for (const at::Tensor& lying : {there, columns}) {
        const Quantized got = quantize(quantizer, lying, {.mask = ClipMask::Inside});
        const int64_t bad =
            different_bits(got.values, want.values) + different_bits(got.inside, want.inside);
        if (bad > 0 && first.empty()) first = ", first in " + to_string(quantizer.spec());
        different += bad;
        ++compared;
      }
    }
    kit_.report("quantize " + std::string(at::toString(values.scalar_type())) + " length " +
                    std::to_string(values.size(2)) + ", " + std::to_string(compared) +
                    " quantizers: values that differ" + first,
                static_cast<double>(different), 0);
  }

  void check_refusal() {
    int64_t missed = 0;
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), -INFINITY}) {
      at::Tensor values = at::ones({2, 8, 64});
      values[1][2][3] = bad;
      for (const Quantizer& quantizer : every_quantizer(8)) {
        try {
          quantize(quantizer, values.to(kit_.device()));
          ++missed;
        } catch (const Error& error) {
          missed += error.code() == ErrorCode::Numeric ? 0 : 1;
        }
      }
    }
    kit_.report("quantize: values that are not finite and pass", static_cast<double>(missed), 0);
  }

  /// A layer under a plan on the device and on the CPU: the same operands, sums of kInner products
  /// in another order, each product and sum rounded once, and the result to the input's type.
  void check_linear(const std::string& weights, const std::string& acts, bool is_columns) {
    constexpr int64_t kInner = 96;
    constexpr int64_t kOuter = 40;
    quant::LayerPlan plan{.name = "layer"};
    plan.acts = quant::parse_quant_spec(acts);
    plan.weights = quant::parse_quant_spec(weights);
    if (plan.weights.granularity == quant::Granularity::Token)
      plan.weights.granularity = quant::Granularity::Channel;
    plan.hadamard = acts == "mxint4";
    const at::Tensor weight = kit_.random({kOuter, kInner}).to(at::kFloat);
    const quant::ConstMat matrix{weight.data_ptr<float>(), kOuter, kInner};
    const quant::PlannedLayer layer(plan, matrix);
    at::Tensor input = kit_.random({3, 16, kInner}).to(at::kFloat);
    const at::Tensor expected = PlannedLinear(layer, matrix, at::kFloat).linear(input, {}, {});
    if (is_columns) input = input.transpose(1, 2).contiguous().transpose(1, 2);
    for (const at::ScalarType type : kit_.types()) {
      const at::TensorOptions there = at::TensorOptions(type).device(kit_.device());
      const at::Tensor got = PlannedLinear(layer, matrix, there).linear(input.to(there), {}, {});
      kit_.compare(
          "planned linear " + weights + " by " + acts + " " + at::toString(type) +
              (is_columns ? " columns" : " rows"),
          got, expected.to(at::kDouble),
          2 * kInner * std::ldexp(1.0, -24) + (type == at::kBFloat16 ? std::ldexp(1.0, -8) : 0.0));
    }
  }

  /// The same of a layer that quantizes changes, in the second call of boards in some of its slots.
  /// Two products are summed; that of a change is longer by the root of two at most.
  void check_changes(const std::string& acts, bool is_columns) {
    constexpr int64_t kInner = 96;
    constexpr int64_t kOuter = 40;
    const quant::LayerPlan plan{.name = "layer",
                                .weights = quant::parse_quant_spec("int4/channel"),
                                .acts = quant::parse_quant_spec(acts),
                                .delta = true};
    const at::Tensor weight = kit_.random({kOuter, kInner}).to(at::kFloat);
    const quant::ConstMat matrix{weight.data_ptr<float>(), kOuter, kInner};
    const quant::PlannedLayer layer(plan, matrix);
    const at::Tensor first = kit_.random({3, 16, kInner}).to(at::kFloat);
    const at::Tensor second = kit_.random({2, 16, kInner}).to(at::kFloat);
    const auto output_of = [&](const at::TensorOptions& there, bool lies_in_columns) {
      const PlannedLinear linear(layer, matrix, there);
      ChangeMemory memory({model::NetworkCall{}}, first.size(0));
      const auto call = [&](const at::Tensor& input) {
        const at::Tensor moved = input.to(there);
        return linear.linear(
            lies_in_columns ? moved.transpose(1, 2).contiguous().transpose(1, 2) : moved, {},
            {.changes = &memory});
      };
      call(first);
      memory.select(at::tensor(std::vector<int64_t>{2, 0}).to(there.device()));
      return call(second);
    };
    const at::Tensor expected = output_of(at::kFloat, false).to(at::kDouble);
    for (const at::ScalarType type : kit_.types())
      kit_.compare(
          "changes " + acts + " " + at::toString(type) + (is_columns ? " columns" : " rows"),
          output_of(at::TensorOptions(type).device(kit_.device()), is_columns), expected,
          3 * 2 * kInner * std::ldexp(1.0, -24) +
              (type == at::kBFloat16 ? std::ldexp(1.0, -8) : 0.0));
  }

  /// Sums of small integers are exact in float32, so bfloat16 products give the same.
  void check_exact_sums() {
    const auto integers = [&](const std::vector<int64_t>& sizes) {
      return (kit_.random(sizes) * 3).round().to(at::kFloat).to(kit_.device());
    };
    for (const bool is_batch : {false, true}) {
      const at::Tensor a = is_batch ? integers({3, 64, 81}) : integers({64, 512});
      const at::Tensor b = is_batch ? integers({3, 81, 128}) : integers({512, 128});
      const at::Tensor narrow = wide_product(a.to(at::kBFloat16), b.to(at::kBFloat16));
      kit_.report(
          is_batch ? "exact sums, batch: values that differ" : "exact sums: values that differ",
          static_cast<double>(different_bits(narrow, at::matmul(a, b).to(at::kCPU))), 0);
    }
  }

  /// The seconds of one run, many in a row.
  template <class Work>
  static double seconds_of(Work work) {
    constexpr int kRuns = 50;
    const auto wait = [] { at::zeros({1}, at::kCUDA).item(); };
    for (int i = 0; i < 3; ++i) work();
    wait();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRuns; ++i) work();
    wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kRuns;
  }

  void time_blocks(const char* text, at::ScalarType type) {
    const Quantizer quantizer(quant::parse_quant_spec(text));
    const at::TensorOptions options = at::TensorOptions(type).device(kit_.device());
    const at::Tensor values = at::randn({768, 81, 512}, options);
    const at::Tensor target = at::empty_like(values);
    const QuantizeOptions quantize_options{.type = type,
                                           .not_finite = at::zeros({1}, options.dtype(at::kInt))};
    const double copy = seconds_of([&] { target.copy_(values); });
    for (const bool is_columns : {false, true}) {
      const at::Tensor in = is_columns ? values.transpose(1, 2) : values;
      const double seconds = seconds_of([&] { quantize(quantizer, in, quantize_options); });
      kit_.report(std::string("time of ") + text + " " + at::toString(type) +
                      (is_columns ? " columns" : " rows") + " in copies",
                  seconds / copy, 10);
    }
  }

  CheckKit& kit_;
};

}  // namespace

std::vector<Quantizer> every_quantizer(int64_t rows) {
  std::vector<std::string> specs;
  for (const Format& format : formats::formats()) {
    if (format.element.min > 0) continue;  // holds no zero
    if (format.scaling == Scaling::None) {
      add_element_specs(std::string(format.name), specs);
      add_stored_specs(format, specs);
    } else {
      add_block_specs(format, specs);
    }
  }
  std::vector<Quantizer> quantizers;
  quantizers.reserve(specs.size());
  for (const std::string& spec : specs) quantizers.emplace_back(quant::parse_quant_spec(spec));
  for (const Format& format : formats::formats()) {
    if (format.element.min > 0 || format.scaling != Scaling::None) continue;
    const std::string name(format.name);
    const float zero = quant::is_asymmetric(format.element) ? 1 : 0;
    quantizers.emplace_back(quant::parse_quant_spec(name + "/tensor/static"),
                            std::vector<quant::Scale>{{.scale = 0.3f, .zero = zero}});
    std::vector<quant::Scale> scales(static_cast<size_t>(rows));
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = {.scale = 0.1f * static_cast<float>(i + 1), .zero = zero};
    quantizers.emplace_back(quant::parse_quant_spec(name + "/channel/static"), scales);
  }
  return quantizers;
}

void check_quantize(CheckKit& kit) { QuantizeChecker(kit).run(); }

}  // namespace driftless::lab
