// SPDX-License-Identifier: Apache-2.0
// Rotary positions and attention against plain float64 operations, and a whole step of every
// architecture against the same module in float64 on the CPU.
#include <array>
#include <cmath>
#include <string>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/lab/check/kit.h"
#include "driftless/lab/net/attention.h"
#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/reasoner/board_noise.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

using model::Mixer;
using model::Positions;

constexpr int64_t kBoards = 3;

struct Variant {
  const char* name;
  std::string_view arch;
  Mixer mixer;
  Positions positions;
  int64_t prefix_rows;
};
constexpr std::array<Variant, 9> kVariants = {{
    {"trm tokens", "trm", Mixer::Tokens, Positions::None, 0},
    {"trm tokens prefix learned", "trm", Mixer::Tokens, Positions::Learned, 3},
    {"trm attention none", "trm", Mixer::Attention, Positions::None, 0},
    {"trm attention rope prefix", "trm", Mixer::Attention, Positions::Rope, 3},
    {"hrm rope prefix", "hrm", Mixer::Attention, Positions::Rope, 1},
    {"eqr tokens", "eqr", Mixer::Tokens, Positions::None, 0},
    {"eqr rope2d", "eqr", Mixer::Attention, Positions::Rope2d, 0},
    {"untied tokens", "trm-untied", Mixer::Tokens, Positions::None, 0},
    {"stochastic tokens", "trm-stochastic", Mixer::Tokens, Positions::None, 0},
}};

model::ModelConfig config_of(const Variant& variant) {
  model::ModelConfig config;
  config.arch = model::parse_arch(variant.arch, variant.name);
  config.mixer = variant.mixer;
  config.positions = variant.positions;
  config.seq_len = 30;
  config.board_width = 6;
  config.hidden_size = 64;
  config.num_heads = 4;
  config.h_layers = model::architecture(config).tying == model::Tying::ByState ? 2 : 0;
  config.puzzle_emb_len = variant.prefix_rows;
  config.puzzle_emb_ndim = variant.prefix_rows > 0 ? config.hidden_size : 0;
  config.h_cycles = 2;
  config.l_cycles = 2;
  return config;
}

std::string label(const std::string& what, at::ScalarType type) {
  return what + " " + at::toString(type);
}

at::Tensor leaf(const at::Tensor& values) { return values.detach().set_requires_grad(true); }

/// Disturbs every linear input more than rounding in `type` does on the way from the last one, by
/// enough to stand for the backward pass too: by eight roundings of 2^-9 in bfloat16, where the
/// forward pass has about four; in float32 by the bound of a sum of K products, K units of 2^-24.
class RoundingTap : public StepTap {
 public:
  explicit RoundingTap(at::ScalarType type) : type_(type) {}
  at::Tensor linear_input(std::string_view, int64_t, const at::Tensor& input) override {
    const double unit = type_ == at::kBFloat16
                            ? 8 * std::ldexp(1.0, -9)
                            : static_cast<double>(input.size(2) + 16) * std::ldexp(1.0, -24);
    return input * (1 + unit * at::randn(input.sizes(), generator_, input.options()));
  }

 private:
  at::ScalarType type_;
  at::Generator generator_ = at::detail::createCPUGenerator(7);
};

/// One step, and the gradients of a number that all outputs have a part in.
struct StepResult {
  StepOutput output;
  at::Tensor weight_grads;
  at::Tensor puzzle_grads;
};

/// Values that every run starts from, exact in all types.
struct StepCase {
  StepCase(const model::ModelConfig& with, CheckKit& kit) : config(with), layout(with) {
    flat = at::zeros({layout.size()}, at::kDouble);
    for (const ParameterLayout::Entry& entry : layout.entries()) {
      const double fan_in = static_cast<double>(entry.shape.back());
      layout.view(flat, entry.name).copy_(kit.random(entry.shape, 1 / std::sqrt(fan_in)));
    }
    const std::vector<int64_t> sizes = {kBoards, model::positions_count(config),
                                        config.hidden_size};
    states = {kit.random(sizes), kit.random(sizes)};
    initial = {kit.random({config.hidden_size}), kit.random({config.hidden_size})};
    tokens = at::arange(kBoards * config.seq_len)
                 .remainder(config.vocab_size)
                 .to(at::kByte)
                 .view({kBoards, config.seq_len});
    if (config.puzzle_emb_len > 0) puzzles = kit.random({kBoards, config.puzzle_emb_ndim});
    for (size_t i = 0; i < model::schedule(config).size(); ++i) noise.push_back(kit.random(sizes));
    direction = kit.random({kBoards, config.seq_len, config.vocab_size});
  }

  [[nodiscard]] StepResult run(at::Device device, at::ScalarType type, StepTap* tap) const {
    const auto there = [&](const at::Tensor& values) { return values.to(type).to(device); };
    const at::ScalarType master = type == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor masters = flat.to(master).to(device);
    StepResult result;
    result.weight_grads = at::zeros_like(masters);
    const RecursiveNet net(config, {masters, there(flat), result.weight_grads},
                           {there(initial.h), there(initial.l)});
    Inputs inputs{tokens.to(device), {}};
    if (puzzles.defined()) inputs.puzzles = leaf(puzzles.to(master).to(device));
    StepOptions options;
    options.chunk = 2;
    options.tap = tap;
    options.noise = [&](int64_t call, int64_t first, int64_t count) {
      return there(noise[static_cast<size_t>(call)].narrow(0, first, count));
    };
    result.output = net.step({there(states.h), there(states.l)}, inputs, options);
    const at::Tensor weighed = result.output.logits * direction.to(at::kFloat).to(device);
    torch::autograd::backward(
        {weighed.sum() + result.output.halt.sum() + result.output.go_on.sum()}, {});
    if (puzzles.defined()) result.puzzle_grads = inputs.puzzles.grad();
    return result;
  }

  model::ModelConfig config;
  ParameterLayout layout;
  at::Tensor flat;
  TensorStates states, initial;
  at::Tensor tokens, puzzles, direction;
  std::vector<at::Tensor> noise;
};

void check_step(CheckKit& kit, const Variant& variant) {
  const StepCase made(config_of(variant), kit);
  const StepResult clean = made.run(at::kCPU, at::kDouble, nullptr);
  for (const at::ScalarType type : kit.types()) {
    RoundingTap rounding(type);
    const StepResult disturbed = made.run(at::kCPU, at::kDouble, &rounding);
    const StepResult got = made.run(kit.device(), type, nullptr);
    const auto compare = [&](const char* what, const at::Tensor& mine, const at::Tensor& near,
                             const at::Tensor& exact) {
      const at::Tensor expected = exact.detach().to(at::kDouble);
      kit.compare(label(std::string("step, ") + variant.name + ", " + what, type), mine, expected,
                  relative_error(near, expected));
    };
    compare("z_H", got.output.states.h, disturbed.output.states.h, clean.output.states.h);
    compare("z_L", got.output.states.l, disturbed.output.states.l, clean.output.states.l);
    compare("logits", got.output.logits, disturbed.output.logits, clean.output.logits);
    compare("d_weights", got.weight_grads, disturbed.weight_grads, clean.weight_grads);
    if (made.puzzles.defined())
      compare("d_puzzles", got.puzzle_grads, disturbed.puzzle_grads, clean.puzzle_grads);
  }
}

/// Rounding of inputs and outputs, and of the products' operands where a kernel uses the matrix
/// units for float32 in several passes.
double bound_of(at::ScalarType type, double roundings) {
  return roundings * (type == at::kBFloat16 ? std::ldexp(1.0, -8) : 16 * std::ldexp(1.0, -24));
}

void check_rope(CheckKit& kit, const Variant& variant) {
  const model::ModelConfig config = config_of(variant);
  const at::Tensor qkv =
      kit.random({kBoards, model::positions_count(config), 3 * config.hidden_size});
  at::Tensor expected = qkv.clone();
  rotate_in_place(expected, rope_tables(config, at::kCPU), Turn::Forward);
  at::Tensor expected_back = qkv.clone();
  rotate_in_place(expected_back, rope_tables(config, at::kCPU), Turn::Back);
  const RopeTables tables = rope_tables(config, kit.device());
  for (const at::ScalarType type : kit.types()) {
    const at::Tensor start = leaf(kit.there(qkv, type));
    const at::Tensor turned = rotate(start.clone(), tables);
    torch::autograd::backward({turned}, {kit.there(qkv, type)});
    const std::string what = std::string("rope, ") + variant.name;
    kit.compare(label(what, type), turned, expected, bound_of(type, 2));
    kit.compare(label(what + ", d_qkv", type), start.grad(), expected_back, bound_of(type, 2));
  }
}

/// Published shapes: TRM on Sudoku, EqR on mazes, and one beyond a tile.
struct AttentionShape {
  int64_t boards;
  int64_t heads;
  int64_t positions;
  int64_t width;
};
constexpr std::array<AttentionShape, 3> kAttentionShapes = {
    {{2, 8, 97, 64}, {1, 8, 900, 16}, {3, 1, 1, 8}}};

void check_attention(CheckKit& kit, const AttentionShape& s) {
  std::array<at::Tensor, 3> values;
  for (at::Tensor& part : values) part = kit.random({s.boards, s.heads, s.positions, s.width});
  const at::Tensor d_out = kit.random(values[0].sizes().vec());
  std::array<at::Tensor, 3> want;
  for (size_t i = 0; i < 3; ++i) want[i] = leaf(values[i]);
  const double scale = 1 / std::sqrt(static_cast<double>(s.width));
  const at::Tensor scores = at::matmul(want[0], want[1].transpose(2, 3)) * scale;
  const at::Tensor expected = at::matmul(at::softmax(scores, 3), want[2]);
  torch::autograd::backward({expected}, {d_out});
  for (const at::ScalarType type : kit.types()) {
    std::array<at::Tensor, 3> got;
    for (size_t i = 0; i < 3; ++i) got[i] = leaf(kit.there(values[i], type));
    const at::Tensor out = scaled_attention(got[0], got[1], got[2]);
    torch::autograd::backward({out}, {kit.there(d_out, type)});
    const std::string what =
        "attention " + std::to_string(s.positions) + "x" + std::to_string(s.width);
    kit.compare(label(what, type), out, expected, bound_of(type, 4));
    constexpr std::array<const char*, 3> kOf = {" d_q", " d_k", " d_v"};
    // The softmax of one position is constant: no gradient to compare but that of the values.
    for (size_t i = s.positions > 1 ? 0 : 2; i < 3; ++i)
      kit.compare(label(what + kOf[i], type), got[i].grad(), want[i].grad(), bound_of(type, 8));
  }
}

/// The device draws the host's numbers: all pairs accepted alike and in the same order, so that
/// only the last bit of a logarithm may differ.
void check_noise(CheckKit& kit) {
  constexpr int64_t kCount = 1001;  // odd: a spare value is carried over
  const std::vector<int64_t> slots = {2, 0};
  const std::vector<uint64_t> seeds = {5, 6};
  const auto draw = [&](at::Device device) {
    BoardNoise noise({.slots = 3, .count = kCount, .threads = 1, .device = device});
    noise.seed(slots, seeds);
    std::vector<at::Tensor> parts = {noise.truncated_normal(slots, 2)};
    for (int i = 0; i < 2; ++i) parts.push_back(noise.standard_normal(slots));
    return at::cat(parts, 1);
  };
  kit.compare("noise", draw(kit.device()), draw(at::kCPU).to(at::kDouble), std::ldexp(1.0, -24));
}

}  // namespace

void check_modules(CheckKit& kit) {
  check_noise(kit);
  for (const Variant& variant : kVariants)
    if (variant.positions == Positions::Rope || variant.positions == Positions::Rope2d)
      check_rope(kit, variant);
  for (const AttentionShape& shape : kAttentionShapes) check_attention(kit, shape);
  for (const Variant& variant : kVariants) check_step(kit, variant);
}

}  // namespace driftless::lab
