// SPDX-License-Identifier: Apache-2.0
// The reference itself, and the few cases of it that can be checked by hand.
#include "tests/simulate/reference.h"

#include <gtest/gtest.h>

#include "tests/simulate/random_model.h"

namespace driftless::simulate::testing {
namespace {

Matrix times_transposed(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.rows; ++j)
      for (int64_t k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(j, k);
  return c;
}

Matrix transpose(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

Matrix plus(Matrix a, const Matrix& b) {
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}

}  // namespace

Matrix Reference::weight(const std::string& name) const {
  const store::Tensor& tensor = tensors_.at(name);
  Matrix matrix(tensor.shape.size() == 2 ? tensor.shape[0] : 1, tensor.shape.back());
  matrix.values.assign(tensor.values.begin(), tensor.values.end());
  return matrix;
}

Matrix Reference::linear(Matrix x, const std::string& name) const {
  if (on_input) on_input(name, x);
  return times_transposed(x, weight(name));
}

Matrix Reference::swiglu(const Matrix& x, const std::string& prefix) const {
  const Matrix gate_up = linear(x, prefix + ".gate_up_proj.weight");
  const int64_t inner = gate_up.columns / 2;
  Matrix product(x.rows, inner);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < inner; ++j) {
      const double gate = gate_up.at(i, j);
      product.at(i, j) = gate / (1 + std::exp(-gate)) * gate_up.at(i, inner + j);
    }
  return linear(product, prefix + ".down_proj.weight");
}

void Reference::rotate(Matrix& qkv) const {
  const bool is_2d = config_.positions == model::Positions::Rope2d;
  if (config_.positions != model::Positions::Rope && !is_2d) return;
  const int64_t head_width = config_.hidden_size / config_.num_heads;
  const int64_t span = is_2d ? head_width / 2 : head_width;
  for (int64_t t = 0; t < qkv.rows; ++t)
    for (int64_t start = 0; start < 2 * config_.hidden_size; start += span) {
      const bool is_second_half = start % head_width != 0;
      const int64_t position = !is_2d           ? t
                               : is_second_half ? t % config_.board_width
                                                : t / config_.board_width;
      for (int64_t i = 0; i < span / 2; ++i) {
        const double angle =
            static_cast<double>(position) /
            std::pow(config_.rope_theta, 2.0 * static_cast<double>(i) / static_cast<double>(span));
        const double a = qkv.at(t, start + i);
        const double b = qkv.at(t, start + span / 2 + i);
        qkv.at(t, start + i) = a * std::cos(angle) - b * std::sin(angle);
        qkv.at(t, start + span / 2 + i) = b * std::cos(angle) + a * std::sin(angle);
      }
    }
}

Matrix Reference::attention(const Matrix& x, const std::string& prefix) const {
  Matrix qkv = linear(x, prefix + ".qkv_proj.weight");
  rotate(qkv);
  if (on_operand) on_operand(qkv);
  const int64_t width = config_.hidden_size;
  const int64_t head_width = width / config_.num_heads;
  Matrix mixed(x.rows, width);
  for (int64_t head = 0; head < config_.num_heads; ++head) {
    const int64_t first = head * head_width;
    Matrix share(x.rows, x.rows);
    for (int64_t i = 0; i < x.rows; ++i) {
      double total = 0;
      for (int64_t j = 0; j < x.rows; ++j) {
        double score = 0;
        for (int64_t k = 0; k < head_width; ++k)
          score += qkv.at(i, first + k) * qkv.at(j, width + first + k);
        share.at(i, j) = std::exp(score / std::sqrt(static_cast<double>(head_width)));
        total += share.at(i, j);
      }
      for (int64_t j = 0; j < x.rows; ++j) share.at(i, j) /= total;
    }
    if (on_operand) on_operand(share);
    for (int64_t i = 0; i < x.rows; ++i)
      for (int64_t j = 0; j < x.rows; ++j)
        for (int64_t k = 0; k < head_width; ++k)
          mixed.at(i, first + k) += share.at(i, j) * qkv.at(j, 2 * width + first + k);
  }
  return linear(mixed, prefix + ".o_proj.weight");
}

Matrix Reference::norm(Matrix sum, int64_t longest_sum) {
  // A float32 sum of n products is off by at most n units of 2^-24 of the sum of magnitudes. Two
  // sums in a row, activation and norm add a handful more.
  const double noise = disturbance_ * 0x1p-24 * static_cast<double>(longest_sum + 16);
  for (int64_t i = 0; i < sum.rows; ++i) {
    double squares = 0;
    for (int64_t j = 0; j < sum.columns; ++j) squares += sum.at(i, j) * sum.at(i, j);
    const double root =
        std::sqrt(squares / static_cast<double>(sum.columns) + config_.rms_norm_eps);
    for (int64_t j = 0; j < sum.columns; ++j)
      sum.at(i, j) = sum.at(i, j) / root + noise * disturbance_rng_.gaussian();
  }
  return sum;
}

Matrix Reference::network(Matrix h, const std::string& name, int64_t layers) {
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string prefix = name + ".layers." + std::to_string(layer);
    if (config_.mixer == model::Mixer::Tokens) {
      const Matrix columns = transpose(h);
      const Matrix mixed = swiglu(columns, prefix + ".mlp_t");
      h = transpose(norm(plus(columns, mixed), h.rows));
    } else {
      h = norm(plus(h, attention(h, prefix + ".self_attn")), h.columns);
    }
    h = norm(plus(h, swiglu(h, prefix + ".mlp")), h.columns);
  }
  return h;
}

Matrix Reference::update(const Matrix& state, const Matrix& injection, const std::string& name,
                         int64_t layers) {
  Matrix next = network(plus(state, injection), name, layers);
  if (config_.arch == model::Arch::Eqr)
    for (size_t i = 0; i < next.values.size(); ++i)
      next.values[i] = (1 - config_.lambda) * state.values[i] + config_.lambda * next.values[i] +
                       config_.noise_scale * rng_.gaussian();
  return next;
}

void Reference::reset(const std::vector<uint8_t>& tokens, int64_t puzzle, uint64_t seed) {
  const int64_t width = config_.hidden_size;
  const int64_t rows = config_.puzzle_emb_len + config_.seq_len;
  x_ = z_h = z_l = Matrix(rows, width);
  if (config_.puzzle_emb_len > 0) {
    const Matrix table = weight("puzzle_emb.weights");
    for (int64_t i = 0; i < config_.puzzle_emb_ndim; ++i)
      x_.at(i / width, i % width) = table.at(puzzle, i);
  }
  const Matrix embedding = weight("embed_tokens.embedding_weight");
  for (int64_t cell = 0; cell < config_.seq_len; ++cell)
    for (int64_t i = 0; i < width; ++i)
      x_.at(config_.puzzle_emb_len + cell, i) = embedding.at(tokens[static_cast<size_t>(cell)], i);
  if (config_.positions == model::Positions::Learned) {
    x_ = plus(x_, weight("embed_pos.embedding_weight"));
    for (double& value : x_.values) value *= 0.707106781;
  }
  for (double& value : x_.values) value *= std::sqrt(static_cast<double>(width));

  rng_ = Rng(seed);
  if (config_.arch == model::Arch::Eqr) {
    const auto draw = [&](double deviation) {
      double value = rng_.gaussian();
      while (std::abs(value) > 2) value = rng_.gaussian();
      return value * 1.1368472 * deviation;
    };
    for (double& value : z_h.values) value = draw(config_.h_init_std);
    for (double& value : z_l.values) value = draw(config_.l_init_std);
    return;
  }
  const Matrix h_init = weight("H_init");
  const Matrix l_init = weight("L_init");
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < width; ++i) {
      z_h.at(row, i) = h_init.at(0, i);
      z_l.at(row, i) = l_init.at(0, i);
    }
}

void Reference::step() {
  const bool is_untied = config_.arch == model::Arch::TrmUntied;
  const bool is_hrm = config_.arch == model::Arch::Hrm;
  for (int64_t h = 0; h < config_.h_cycles; ++h) {
    for (int64_t l = 0; l < config_.l_cycles; ++l)
      z_l =
          update(z_l, plus(z_h, x_), is_untied ? "L_level.cycles." + std::to_string(l) : "L_level",
                 config_.num_layers);
    z_h = update(z_h, z_l,
                 is_untied ? "L_level.cycles." + std::to_string(config_.l_cycles)
                 : is_hrm  ? "H_level"
                           : "L_level",
                 is_hrm ? config_.h_layers : config_.num_layers);
    if (config_.arch == model::Arch::TrmStochastic) {
      const Matrix log_scale = weight("transition.log_scale");
      for (int64_t row = 0; row < z_h.rows; ++row)
        for (int64_t i = 0; i < z_h.columns; ++i)
          z_h.at(row, i) += config_.noise_scale * std::exp(log_scale.at(0, i)) * rng_.gaussian();
    }
  }
  read_out();
}

void Reference::read_out() {
  const int64_t width = config_.hidden_size;
  Matrix cells(config_.seq_len, width);
  cells.values.assign(z_h.values.begin() + config_.puzzle_emb_len * width, z_h.values.end());
  outputs = linear(cells, "lm_head.weight").values;
  Matrix first(1, width);
  first.values.assign(z_h.values.begin(), z_h.values.begin() + width);
  const Matrix halt = linear(first, "q_head.weight");
  const Matrix bias = weight("q_head.bias");
  outputs.push_back(halt.at(0, 0) + bias.at(0, 0));
  outputs.push_back(halt.at(0, 1) + bias.at(0, 1));
}

TEST(Reference, DisturbanceIsSmallAndZeroMeansNone) {
  const store::Checkpoint checkpoint = random_checkpoint(named_configs().front().config, 1);
  Reference clean(checkpoint, 0), again(checkpoint, 0), disturbed(checkpoint, 1);
  for (Reference* reference : {&clean, &again, &disturbed}) {
    reference->reset(random_tokens(checkpoint.config, 2), 0, 3);
    reference->step();
  }
  EXPECT_EQ(clean.z_h.values, again.z_h.values);
  EXPECT_NE(clean.z_h.values, disturbed.z_h.values);
}

TEST(Reference, RowsLeaveTheNetworkWithUnitSquares) {
  const store::Checkpoint checkpoint = random_checkpoint(named_configs().front().config, 1);
  Reference reference(checkpoint, 0);
  reference.reset(random_tokens(checkpoint.config, 2), 0, 3);
  reference.step();
  for (int64_t row = 0; row < reference.z_h.rows; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < reference.z_h.columns; ++i)
      squares += reference.z_h.at(row, i) * reference.z_h.at(row, i);
    // The norm's eps of 1e-5 takes away at most that share where sums have squares of order 1.
    EXPECT_NEAR(squares / static_cast<double>(reference.z_h.columns), 1, 1e-4);
  }
}

}  // namespace driftless::simulate::testing
