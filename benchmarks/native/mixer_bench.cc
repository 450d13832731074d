// SPDX-License-Identifier: Apache-2.0
// Whole mixers on one thread, with everything in: quantize the state, gate and up, SiLU * up,
// quantize, down, add and norm. Beside the peak of the instructions and the same chain in float32
// on oneDNN. Token mixers take their state transposed; the transposition is not in the time.
//
//   mixer_bench [rounds]      DRIFTLESS_ISA and DNNL_MAX_CPU_ISA choose the kernels
#include <cstdio>
#include <cstdlib>
#include <string>

#include "driftless/base/machine.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/native/swiglu.h"

#include "benchmarks/native/contender.h"
#include "benchmarks/native/float_product.h"

namespace driftless::native {
namespace {

struct Shape {
  const char* name;
  int64_t rows, width, inner;
};
constexpr Shape kShapes[] = {
    {"D512 channels", 97, 512, 1536},
    {"D512 tokens", 512, 97, 512},
    {"D256 channels", 81, 256, 768},
    {"D256 tokens", 256, 81, 256},
};
constexpr const char* kSpecs[] = {"mxint4,window=4", "mxint4,rule=mse,window=4"};
constexpr float kEps = 1e-5f;

/// State, output and the epilogue of both chains.
struct State {
  std::vector<float> h;
  std::vector<float> out;
  int64_t rows, width;

  explicit State(const Shape& shape)
      : h(static_cast<size_t>(shape.rows * shape.width), 0.0f),
        out(h.size()),
        rows(shape.rows),
        width(shape.width) {
    Rng rng(3);
    for (float& x : h) x = static_cast<float>(rng.gaussian());
  }
  void add_norm() {
    for (int64_t row = 0; row < rows; ++row) {
      loop::epilogues().add_norm(h.data() + row * width, out.data() + row * width, width, kEps);
    }
  }
};

void run_floats(FloatProduct& gate_up, FloatProduct& down, State& state, const Shape& shape) {
  gate_up.run();
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float* const gate = gate_up.out() + row * 2 * shape.inner;
    loop::epilogues().silu_mul(gate, gate + shape.inner, down.in() + row * shape.inner,
                               shape.inner);
  }
  down.run();
  state.add_norm();
}

void run_one(const KernelSet& set, const Shape& shape, const char* text, long rounds) {
  const quant::QuantSpec spec = quant::parse_quant_spec(text);
  const auto gate_up = random_matrix(text, 2 * shape.inner, shape.width, 1);
  const auto down = random_matrix(text, shape.width, shape.inner, 2);
  const Swiglu swiglu({gate_up, down}, {spec, spec}, set, loop::epilogues());
  auto scratch = swiglu.make_scratch(shape.rows);
  State native_state(shape);
  State float_state(shape);
  FloatProduct float_gate_up({shape.rows, shape.width, 2 * shape.inner});
  FloatProduct float_down({shape.rows, shape.inner, shape.width});
  const double operations = 6.0 * static_cast<double>(shape.rows * shape.width * shape.inner);
  constexpr int64_t kPeakRounds = 4000;
  Contender peak{[&] { (void)set.peak(kPeakRounds); },
                 2.0 * static_cast<double>(set.peak(kPeakRounds))};
  Contender fused{[&] {
                    swiglu.run({native_state.h.data(), shape.rows, shape.width}, scratch,
                               {native_state.out.data(), shape.rows, shape.width});
                    native_state.add_norm();
                  },
                  operations};
  Contender floats{[&] { run_floats(float_gate_up, float_down, float_state, shape); }, operations};
  for (long round = 0; round < rounds; ++round) {
    peak.run();
    fused.run();
    if (has_float_product()) floats.run();
  }
  std::printf("%-15s %-26s %9.1f %7.1f%% %8.2f\n", shape.name, text, fused.gops(),
              100 * fused.gops() / peak.gops(),
              has_float_product() ? fused.gops() / floats.gops() : 0.0);
}

}  // namespace
}  // namespace driftless::native

int main(int argc, char** argv) {
  using namespace driftless;
  const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 300;
  if (rounds < 1) {
    std::fprintf(stderr, "mixer_bench: rounds; expected a number of at least 1\n");
    return 2;
  }
  const integer::KernelSet& set = integer::kernels();
  std::printf("%s, kernels %s, best of %ld rounds\n", processor_name().c_str(),
              std::string(set.name).c_str(), 3 * rounds);
  std::printf("%-15s %-26s %9s %8s %8s\n", "mixer", "weights and activations", "GOP/s", "of peak",
              "float x");
  for (const auto& shape : native::kShapes) {
    for (const char* spec : native::kSpecs) native::run_one(set, shape, spec, rounds);
  }
  return 0;
}
