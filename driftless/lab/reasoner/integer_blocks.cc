// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/reasoner/integer_blocks.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/integer/operand.h"
#include "driftless/integer/product.h"
#include "driftless/integer/row_quantizer.h"
#include "driftless/lab/cuda/integers/integers.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/net/layers.h"
#include "driftless/lab/net/parameters.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/loop/rope.h"
#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"
#include "driftless/quant/packed.h"

namespace driftless::lab {
namespace {

constexpr const char* kLogits = "lm_head.weight";
constexpr const char* kHalt = "q_head.weight";
constexpr const char* kHint = "; run it with --native on the CPU";

cuda::Stream stream_of(at::Device device) { return device.is_cuda() ? current_stream() : nullptr; }

/// Rows of integers and their units.
struct Factor {
  at::Tensor bytes;
  at::Tensor units;

  Factor(int64_t rows, int64_t length, at::Device device) {
    const int64_t step = cuda::kIntegerStep;
    const int64_t stride = (length + step - 1) / step * step;
    bytes = at::empty({rows, stride}, at::TensorOptions(at::kChar).device(device));
    units = at::empty({rows}, at::TensorOptions(at::kFloat).device(device));
  }
  [[nodiscard]] cuda::Integers view() const {
    return {bytes.data_ptr<int8_t>(), units.data_ptr<float>(), bytes.size(0), bytes.size(1)};
  }
};

/// A linear layer: its weight as integers, and how its input becomes such.
struct IntegerLinear {
  std::string name;
  quant::QuantSpec acts;
  Factor weight;
};

/// Where the row of a weight goes.
enum class Order : uint8_t { AsItIs, GatesWithUps };

int64_t place_of(int64_t row, int64_t rows, Order order) {
  if (order == Order::AsItIs) return row;
  return row < rows / 2 ? 2 * row : 2 * (row - rows / 2) + 1;
}

Factor integers_of(const store::PackedWeight& weight, Order order, at::Device device) {
  const quant::QuantizedMatrix matrix = quant::unpack(weight.matrix);
  const integer::RowShifts rows = integer::row_shifts(matrix);
  const store::Tensor values = store::decoded(weight);
  Factor factor(matrix.rows, matrix.cols, at::kCPU);
  factor.bytes.zero_();
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const int64_t place = place_of(row, matrix.rows, order);
    const float unit = rows.scales[static_cast<size_t>(row)];
    int8_t* const to = factor.bytes.data_ptr<int8_t>() + place * factor.bytes.size(1);
    for (int64_t i = 0; i < matrix.cols; ++i) {
      const float value = values.values[static_cast<size_t>(row * matrix.cols + i)];
      to[i] = static_cast<int8_t>(std::lrint(value / unit));
    }
    factor.units.data_ptr<float>()[place] = unit;
  }
  factor.bytes = factor.bytes.to(device);
  factor.units = factor.units.to(device);
  return factor;
}

void require_runnable(const store::PackedModel& model, const std::string& name) {
  const quant::LayerPlan* const plan = model.plan.find(name);
  const auto refuse = [&](const std::string& why) {
    fail(ErrorCode::Unsupported, "layer '", name, "' on the device: ", why, kHint);
  };
  if (plan == nullptr || plan->weights.is_none() || plan->acts.is_none())
    refuse("got floats, expected integers for weights and activations");
  if (plan->smooth || plan->hadamard) refuse("inputs are smoothed or rotated");
  if (plan->delta) refuse("changes of inputs are quantized");
  if (const char* const why = cuda::why_not_encoded(plan->acts); *why != '\0')
    refuse("activations: got " + to_string(plan->acts) + ", " + why);
  integer::require_supported(plan->weights);
  const quant::QuantizedMatrix matrix = quant::unpack(model.weights.at(name).matrix);
  const integer::IntegerForm weights = integer::integer_form(matrix);
  if (!weights.fits_bytes()) refuse("weights: integers do not fit bytes");
  const integer::RowQuantizer acts(plan->acts, integer::kScalarKernels);
  if (matrix.cols > integer::largest_k(acts.form(), weights)) refuse("rows are too long");
}

IntegerLinear layer_of(const store::PackedModel& model, const std::string& name, Order order,
                       at::Device device) {
  require_runnable(model, name);
  return {name, model.plan.find(name)->acts, integers_of(model.weights.at(name), order, device)};
}

struct IntegerSwiglu {
  IntegerLinear gate_up;
  IntegerLinear down;

  IntegerSwiglu(const store::PackedModel& model, const std::string& prefix, at::Device device)
      : gate_up(layer_of(model, prefix + ".gate_up_proj.weight", Order::GatesWithUps, device)),
        down(layer_of(model, prefix + ".down_proj.weight", Order::AsItIs, device)) {}
};

/// [boards, ...] values in the shape of their matrices as a left factor.
Factor encoded(const quant::QuantSpec& spec, const std::string& layer, const at::Tensor& values,
               const cuda::MatricesShape& shape, const Site& site) {
  const at::Device device = values.device();
  const Factor out(shape.matrices * shape.rows, shape.length, device);
  const bool is_noted = site.not_finite.defined();
  const at::Tensor note =
      is_noted ? site.not_finite : at::zeros({1}, at::TensorOptions(at::kInt).device(device));
  cuda::encode(spec, shape, values.data_ptr<float>(), out.view(), note.data_ptr<int32_t>(),
               stream_of(device));
  if (is_noted || note.item<int32_t>() == 0) return out;
  fail(ErrorCode::Numeric, "board ", first_bad_board(values, site), ", layer '", layer, "', call ",
       site.call, ": input is not finite");
}

/// A layer of [B, T, K] values: [B, T, outputs].
at::Tensor product(const IntegerLinear& layer, const at::Tensor& values, const Site& site) {
  const Factor input =
      encoded(layer.acts, layer.name, values,
              {values.size(0), values.size(1), values.size(2), cuda::Lie::Rows}, site);
  at::Tensor out =
      at::empty({values.size(0), values.size(1), layer.weight.bytes.size(0)}, values.options());
  cuda::multiply(input.view(), layer.weight.view(), out.data_ptr<float>(),
                 stream_of(values.device()));
  return out;
}

/// The hidden values of a SwiGLU, encoded: rows [boards, rows, inner].
Factor hidden_of(const IntegerSwiglu& layers, const at::Tensor& h, const cuda::MatricesShape& shape,
                 const Site& site) {
  const Factor input = encoded(layers.gate_up.acts, layers.gate_up.name, h, shape, site);
  const int64_t inner = layers.gate_up.weight.bytes.size(0) / 2;
  const at::Tensor act = at::empty({shape.matrices, shape.rows, inner}, h.options());
  cuda::multiply_swiglu(input.view(), layers.gate_up.weight.view(), act.data_ptr<float>(),
                        stream_of(h.device()));
  return encoded(layers.down.acts, layers.down.name, act,
                 {shape.matrices, shape.rows, inner, cuda::Lie::Rows}, site);
}

/// What is added to h [B, T, D].
at::Tensor tokens_update(const IntegerSwiglu& layers, const at::Tensor& h, const Site& site) {
  const int64_t width = h.size(2);
  const Factor hidden =
      hidden_of(layers, h, {h.size(0), width, h.size(1), cuda::Lie::Columns}, site);
  at::Tensor out = at::empty_like(h);
  cuda::multiply_transposed(hidden.view(), layers.down.weight.view(), width, out.data_ptr<float>(),
                            stream_of(h.device()));
  return out;
}
at::Tensor channels_update(const IntegerSwiglu& layers, const at::Tensor& h, const Site& site) {
  const Factor hidden =
      hidden_of(layers, h, {h.size(0), h.size(1), h.size(2), cuda::Lie::Rows}, site);
  at::Tensor out = at::empty_like(h);
  cuda::multiply(hidden.view(), layers.down.weight.view(), out.data_ptr<float>(),
                 stream_of(h.device()));
  return out;
}

/// Rotary positions and attention in int8 (docs/numerics.md).
class IntegerAttention {
 public:
  IntegerAttention(const store::PackedModel& model, const std::string& prefix, at::Device device)
      : name_(prefix),
        heads_(model.config.num_heads),
        head_width_(model::head_width(model.config)),
        codes_(quant::parse_quant_spec("int8/token")),
        qkv_(layer_of(model, prefix + ".qkv_proj.weight", Order::AsItIs, device)),
        output_(layer_of(model, prefix + ".o_proj.weight", Order::AsItIs, device)) {
    const loop::Rope rope(model.config);
    segments_ = rope.segments();
    half_ = rope.half();
    cosines_ = tensor_of(rope.cosines(), device);
    sines_ = tensor_of(rope.sines(), device);
  }

  /// What is added to h [B, T, D].
  [[nodiscard]] at::Tensor update(const at::Tensor& h, const Site& site) const {
    const int64_t boards = h.size(0), rows = h.size(1);
    const cuda::Stream stream = stream_of(h.device());
    // Of each row all queries, all keys, all values; then [3, B, heads, T, head width].
    const at::Tensor projected = product(qkv_, h, site);
    turn(projected);
    const at::Tensor parts = projected.view({boards, rows, 3, heads_, head_width_})
                                 .permute({2, 0, 3, 1, 4})
                                 .contiguous();
    const auto encode = [&](int64_t part, cuda::Lie lie) {
      const bool has_rows = lie == cuda::Lie::Rows;
      return encoded(
          codes_, name_, parts.select(0, part),
          {boards * heads_, has_rows ? rows : head_width_, has_rows ? head_width_ : rows, lie},
          site);
    };
    const Factor queries = encode(0, cuda::Lie::Rows);
    const Factor keys = encode(1, cuda::Lie::Rows);
    const Factor values = encode(2, cuda::Lie::Columns);
    const at::Tensor scores = at::empty({boards * heads_ * rows, rows}, h.options());
    cuda::multiply_parts(queries.view(), keys.view(), boards * heads_, scores.data_ptr<float>(),
                         stream);
    const Factor shares(scores.size(0), rows, h.device());
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_width_));
    cuda::share(scores.data_ptr<float>(), rows, loop::kLog2E * scale, shares.view(), stream);
    const at::Tensor sums = at::empty({values.bytes.size(0)}, h.options().dtype(at::kInt));
    cuda::sum_rows(values.view(), sums.data_ptr<int32_t>(), stream);
    const at::Tensor mixed = at::empty_like(h);
    cuda::multiply_shares(shares.view(), values.view(), sums.data_ptr<int32_t>(), boards, heads_,
                          mixed.data_ptr<float>(), stream);
    return product(output_, mixed, site);
  }

 private:
  void turn(const at::Tensor& projected) const {
    const int64_t turned = 2 * heads_ * segments_;  // queries and keys
    cuda::turn({projected.size(0) * projected.size(1), projected.size(1), projected.size(2), turned,
                segments_, half_},
               cosines_.data_ptr<float>(), sines_.data_ptr<float>(), projected.data_ptr<float>(),
               stream_of(projected.device()));
  }

  std::string name_;
  int64_t heads_, head_width_;
  int64_t segments_ = 0, half_ = 0;
  quant::QuantSpec codes_;
  IntegerLinear qkv_, output_;
  at::Tensor cosines_, sines_;
};

class IntegerBlocks : public BlockEngine {
 public:
  IntegerBlocks(const store::PackedModel& model, at::Device device)
      : eps_(static_cast<float>(model.config.rms_norm_eps)) {
    const bool has_attention = model.config.mixer == model::Mixer::Attention;
    for (const model::Network& network : model::networks(model.config))
      for (int64_t i = 0; i < network.num_layers; ++i) {
        const std::string prefix = model::layer_name(network, i);
        Block& block = blocks_[prefix];
        if (has_attention)
          block.attention.emplace(model, prefix + ".self_attn", device);
        else
          block.tokens.emplace(model, prefix + ".mlp_t", device);
        block.channels.emplace(model, prefix + ".mlp", device);
      }
  }

  [[nodiscard]] at::Tensor run(const std::string& prefix, const at::Tensor& h,
                               const Site& site) const override {
    DRIFTLESS_REQUIRE(!site.taps_linear_inputs(), ErrorCode::Unsupported,
                      "integers on the device do not show what layers multiply", kHint);
    const Block& block = blocks_.at(prefix);
    const at::Tensor state = h.contiguous();
    const at::Tensor mixed =
        block.tokens
            ? normed(cuda::NormAxis::Tokens, state, tokens_update(*block.tokens, state, site))
            : normed(cuda::NormAxis::Channels, state, block.attention->update(state, site));
    return normed(cuda::NormAxis::Channels, mixed, channels_update(*block.channels, mixed, site));
  }

 private:
  /// Positions are mixed by tokens or by attention.
  struct Block {
    std::optional<IntegerSwiglu> tokens{};
    std::optional<IntegerAttention> attention{};
    std::optional<IntegerSwiglu> channels{};
  };

  [[nodiscard]] at::Tensor normed(cuda::NormAxis axis, const at::Tensor& h,
                                  const at::Tensor& update) const {
    at::Tensor out = at::empty_like(h);
    cuda::add_norm(axis, {h.size(0), h.size(1), h.size(2)}, h.data_ptr<float>(),
                   update.data_ptr<float>(), eps_, out.data_ptr<float>(), stream_of(h.device()));
    return out;
  }

  float eps_;
  std::map<std::string, Block> blocks_;
};

at::Tensor tensor_on(const store::TensorMap& tensors, const char* name, at::Device device) {
  const store::Tensor& tensor = tensors.at(name);
  return tensor_of(tensor.values, device).view(tensor.shape);
}

/// A float layer whose sums have the native engine's order.
class OrderedHead : public LayerQuantizer {
 public:
  /// weight [outputs, inputs]; with a bias, sums run in double.
  OrderedHead(const at::Tensor& weight, at::Tensor bias)
      : outputs_(weight.size(0)),
        weight_(bias.defined() ? weight : weight.t().contiguous()),
        bias_(std::move(bias)) {}

  [[nodiscard]] at::Tensor linear(const at::Tensor& input, const LinearWeight& /*weight*/,
                                  const Site& /*site*/) const override {
    const at::Tensor rows = input.contiguous();
    const cuda::HeadShape shape{rows.size(0) * rows.size(1), rows.size(2), outputs_};
    at::Tensor out = at::empty({rows.size(0), rows.size(1), outputs_}, rows.options());
    const cuda::Stream stream = stream_of(rows.device());
    if (bias_.defined())
      cuda::multiply_in_double(shape, rows.data_ptr<float>(), weight_.data_ptr<float>(),
                               bias_.data_ptr<float>(), out.data_ptr<float>(), stream);
    else
      cuda::multiply_in_order(shape, rows.data_ptr<float>(), weight_.data_ptr<float>(),
                              out.data_ptr<float>(), stream);
    return out;
  }
  [[nodiscard]] Multiplier multiplier() const override { return Multiplier::Quantizer; }
  [[nodiscard]] const FakeQuantizer* input() const override { return nullptr; }

 private:
  int64_t outputs_;
  at::Tensor weight_;  // without a bias transposed
  at::Tensor bias_;
};

}  // namespace

std::unique_ptr<const BlockEngine> make_integer_blocks(const store::PackedModel& model,
                                                       at::Device device) {
  const auto require = [](bool is_so, const char* what) {
    DRIFTLESS_REQUIRE(is_so, ErrorCode::Unsupported, "integers on the device: ", what, kHint);
  };
  require(model.config.mixer == model::Mixer::Tokens ||
              model.plan.attention == quant::AttentionPrecision::Int8,
          "got attention in float, expected int8");
  // Their sums with token rows are rounded elsewhere.
  require(model.config.positions != model::Positions::Learned, "got learned positions");
  for (const model::NetworkCall& call : model::schedule(model.config))
    require(call.after == model::After::Nothing, "got a model that adds noise or damps");
  return std::make_unique<IntegerBlocks>(model, device);
}

LayerQuantizers make_ordered_heads(const store::PackedModel& model, at::Device device) {
  for (const char* name : {kLogits, kHalt})
    DRIFTLESS_REQUIRE(model.plan.find(name) == nullptr, ErrorCode::Unsupported, "layer '", name,
                      "' on the device: got a quantized head, expected floats", kHint);
  LayerQuantizers heads;
  heads.emplace(kLogits, std::make_unique<OrderedHead>(tensor_on(model.tensors, kLogits, device),
                                                       at::Tensor()));
  heads.emplace(kHalt,
                std::make_unique<OrderedHead>(tensor_on(model.tensors, kHalt, device),
                                              tensor_on(model.tensors, "q_head.bias", device)));
  return heads;
}

}  // namespace driftless::lab
