// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/rope.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "driftless/base/error.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/device/ops.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

using model::Positions;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

int64_t segment_count(const model::ModelConfig& config) {
  if (config.mixer != model::Mixer::Attention) return 0;
  return config.positions == Positions::Rope ? 1 : config.positions == Positions::Rope2d ? 2 : 0;
}

struct Rotate : torch::autograd::Function<Rotate> {
  static at::Tensor forward(AutogradContext* ctx, at::Tensor qkv, const at::Tensor& cos,
                            const at::Tensor& sin) {
    ctx->save_for_backward({cos, sin});
    rotate_in_place(qkv, {cos, sin}, Turn::Forward);
    ctx->mark_dirty({qkv});
    return qkv;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    at::Tensor d_qkv = grads[0].clone(at::MemoryFormat::Contiguous);
    rotate_in_place(d_qkv, {saved[0], saved[1]}, Turn::Back);
    return {d_qkv, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

RopeTables rope_tables(const model::ModelConfig& config, at::Device device) {
  const int64_t segments = segment_count(config);
  if (segments == 0) return {};
  const int64_t half = model::head_width(config) / segments / 2;
  const at::Tensor rows = at::arange(model::positions_count(config), at::kLong);
  const at::Tensor positions =
      segments == 1
          ? rows.unsqueeze(1)
          : at::stack({rows.div(config.board_width, "floor"), rows.remainder(config.board_width)},
                      1);
  const at::Tensor exponents = at::arange(half, at::kDouble) / -static_cast<double>(half);
  const at::Tensor angles =
      positions.to(at::kDouble).unsqueeze(2) * at::pow(config.rope_theta, exponents);
  return {at::cos(angles).to(at::kFloat).to(device), at::sin(angles).to(at::kFloat).to(device)};
}

void rotate_in_place(at::Tensor& qkv, const RopeTables& tables, Turn turn) {
  const int64_t positions = tables.cos.size(0);
  const int64_t segments = tables.cos.size(1);
  const int64_t half = tables.cos.size(2);
  const int64_t width = qkv.size(-1) / 3;
  DRIFTLESS_REQUIRE(qkv.dim() == 3 && qkv.is_contiguous() && qkv.size(1) == positions &&
                        qkv.size(2) == 3 * width && width % (2 * half * segments) == 0,
                    ErrorCode::InvalidArgument, "rope: got shape ", qkv.sizes(),
                    ", expected contiguous [boards, ", positions, ", 3 D] with heads of ",
                    2 * half * segments, " values");
  if (qkv.is_cuda()) {
    cuda::rotate(real_of(qkv),
                 {.rows = qkv.size(0) * positions,
                  .positions = positions,
                  .row_stride = 3 * width,
                  .turned = 2 * width,
                  .segments = segments,
                  .half = half},
                 turn == Turn::Forward ? 1.0f : -1.0f, tables.cos.data_ptr<float>(),
                 tables.sin.data_ptr<float>(), qkv.data_ptr(), current_stream());
    return;
  }
  const at::Tensor pairs =
      qkv.narrow(2, 0, 2 * width)
          .view({qkv.size(0), positions, width / (half * segments), segments, 2, half});
  const at::Tensor first = pairs.select(4, 0);
  const at::Tensor second = pairs.select(4, 1);
  const at::Tensor cos = tables.cos.unsqueeze(1);
  const at::Tensor sin = turn == Turn::Forward ? tables.sin.unsqueeze(1) : -tables.sin.unsqueeze(1);
  const at::Tensor turned = first * cos - second * sin;
  second.copy_(second * cos + first * sin);
  first.copy_(turned);
}

at::Tensor rotate(at::Tensor qkv, const RopeTables& tables) {
  if (!tables.cos.defined()) return qkv;
  if (at::GradMode::is_enabled()) return Rotate::apply(qkv, tables.cos, tables.sin);
  rotate_in_place(qkv, tables, Turn::Forward);
  return qkv;
}

}  // namespace driftless::lab
