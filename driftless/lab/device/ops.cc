// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/device/ops.h"

#include <vector>

#include "driftless/base/error.h"
#include "driftless/lab/device/device.h"

namespace driftless::lab {

cuda::Real real_of(const at::Tensor& tensor) {
  const at::ScalarType type = tensor.scalar_type();
  DRIFTLESS_REQUIRE(type == at::kFloat || type == at::kBFloat16, ErrorCode::InvalidArgument,
                    "CUDA kernels: got ", at::toString(type), ", expected Float or BFloat16");
  return type == at::kFloat ? cuda::Real::Float32 : cuda::Real::BFloat16;
}

namespace {

// Throws unless the kernels can read the tensor in 16-byte pieces along `extent`.
void require_vectors(const at::Tensor& tensor, int64_t extent) {
  DRIFTLESS_REQUIRE(tensor.is_contiguous(), ErrorCode::InvalidArgument,
                    "CUDA kernels: got a strided tensor, expected a contiguous one");
  const int64_t length = cuda::vector_length(real_of(tensor));
  DRIFTLESS_REQUIRE(extent % length == 0, ErrorCode::InvalidArgument, "CUDA kernels: got extent ",
                    extent, ", expected a multiple of ", length);
}

cuda::SwigluShape swiglu_shape(const at::Tensor& gate_up, int64_t rows) {
  DRIFTLESS_REQUIRE(rows > 0 && gate_up.numel() % (2 * rows) == 0, ErrorCode::InvalidArgument,
                    "swiglu: got ", gate_up.numel(), " values in ", rows,
                    " rows, expected an even number per row");
  return {rows, gate_up.numel() / (2 * rows)};
}

cuda::StateShape state_shape(const at::Tensor& h) {
  DRIFTLESS_REQUIRE(h.dim() == 3, ErrorCode::InvalidArgument, "residual_norm: got ", h.dim(),
                    " axes, expected [boards, positions, width]");
  return {h.size(0), h.size(1), h.size(2)};
}

int64_t reduced_axis(NormAxis axis) { return axis == NormAxis::Channels ? 2 : 1; }

// Norms are taken in float32 at least.
at::Tensor widened(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? tensor : tensor.to(at::kFloat);
}

}  // namespace

at::Tensor swiglu_forward(const at::Tensor& gate_up, int64_t rows) {
  const cuda::SwigluShape shape = swiglu_shape(gate_up, rows);
  if (gate_up.is_cuda()) {
    require_vectors(gate_up, shape.half);
    at::Tensor act = at::empty({rows, shape.half}, gate_up.options());
    cuda::swiglu_forward(real_of(gate_up), shape, gate_up.data_ptr(), act.data_ptr(),
                         current_stream());
    return act;
  }
  const at::Tensor halves = gate_up.view({rows, 2, shape.half});
  return at::silu(halves.select(1, 0)).mul_(halves.select(1, 1));
}

at::Tensor swiglu_backward(const at::Tensor& gate_up, const at::Tensor& d_act, int64_t rows) {
  const cuda::SwigluShape shape = swiglu_shape(gate_up, rows);
  DRIFTLESS_REQUIRE(d_act.numel() == rows * shape.half, ErrorCode::InvalidArgument,
                    "swiglu_backward: got ", d_act.numel(), " gradients, expected ",
                    rows * shape.half);
  if (gate_up.is_cuda()) {
    require_vectors(gate_up, shape.half);
    require_vectors(d_act, shape.half);
    at::Tensor d_gate_up = at::empty_like(gate_up);
    cuda::swiglu_backward(real_of(gate_up), shape, gate_up.data_ptr(), d_act.data_ptr(),
                          d_gate_up.data_ptr(), current_stream());
    return d_gate_up;
  }
  const at::Tensor halves = gate_up.view({rows, 2, shape.half});
  const at::Tensor gate = halves.select(1, 0);
  const at::Tensor d = d_act.reshape({rows, shape.half});
  const at::Tensor s = at::sigmoid(gate);
  const at::Tensor d_gate = d * halves.select(1, 1) * s * (1 + gate * (1 - s));
  return at::stack({d_gate, d * gate * s}, 1).view(gate_up.sizes());
}

Normed residual_norm_forward(const at::Tensor& h, const at::Tensor& update, NormAxis axis,
                             double eps) {
  const cuda::StateShape shape = state_shape(h);
  DRIFTLESS_REQUIRE(update.sizes() == h.sizes(), ErrorCode::InvalidArgument,
                    "residual_norm: got an update of another shape than the state");
  if (h.is_cuda()) {
    require_vectors(h, shape.width);
    require_vectors(update, shape.width);
    std::vector<int64_t> sizes = h.sizes().vec();
    sizes[static_cast<size_t>(reduced_axis(axis))] = 1;
    const Normed out{at::empty_like(h), at::empty(sizes, h.options().dtype(at::kFloat))};
    cuda::residual_norm_forward(real_of(h), axis, shape, h.data_ptr(), update.data_ptr(),
                                static_cast<float>(eps), out.y.data_ptr(),
                                out.scale.data_ptr<float>(), current_stream());
    return out;
  }
  const at::Tensor s = widened(h + update);
  const at::Tensor scale = at::rsqrt(at::mean(s * s, reduced_axis(axis), true) + eps);
  return {(s * scale).to(h.scalar_type()), scale};
}

at::Tensor residual_norm_backward(const at::Tensor& d_y, const Normed& normed, NormAxis axis) {
  const cuda::StateShape shape = state_shape(normed.y);
  if (d_y.is_cuda()) {
    require_vectors(d_y, shape.width);
    at::Tensor d_s = at::empty_like(normed.y);
    cuda::residual_norm_backward(real_of(normed.y), axis, shape, d_y.data_ptr(),
                                 normed.y.data_ptr(), normed.scale.data_ptr<float>(),
                                 d_s.data_ptr(), current_stream());
    return d_s;
  }
  const at::Tensor d = widened(d_y);
  const at::Tensor y = widened(normed.y);
  const at::Tensor mean = at::mean(d * y, reduced_axis(axis), true);
  return (normed.scale * (d - y * mean)).to(d_y.scalar_type());
}

namespace {

cuda::MixerShape mixer_shape(const at::Tensor& h, int64_t inner) { return {state_shape(h), inner}; }

}  // namespace

bool runs_mixers(const at::Tensor& h, cuda::Pass pass) {
  return h.is_cuda() && h.scalar_type() == at::kBFloat16 && h.numel() > 0 &&
         cuda::has_fused_mixers(pass);
}

bool fuses_mixer(const at::Tensor& h, int64_t inner, NormAxis axis) {
  const cuda::MixerShape shape = mixer_shape(h, inner);
  const bool fits =
      axis == NormAxis::Tokens ? cuda::fuses_tokens(shape) : cuda::fuses_channels(shape);
  return fits && runs_mixers(h, cuda::Pass::Forward);
}

bool differentiates_tokens(const at::Tensor& h, int64_t inner) {
  return cuda::differentiates_tokens(mixer_shape(h, inner)) && runs_mixers(h, cuda::Pass::Backward);
}

Normed mixer_forward(const at::Tensor& h, const at::Tensor& gate_up, const at::Tensor& down,
                     NormAxis axis, double eps) {
  const cuda::MixerShape shape = mixer_shape(h, down.size(1));
  for (const at::Tensor& tensor : {h, gate_up, down}) require_vectors(tensor, tensor.size(-1));
  Normed out{at::empty_like(h), {}};
  const auto small = static_cast<float>(eps);
  if (axis == NormAxis::Tokens) {
    out.scale = at::empty({h.size(0), 1, h.size(2)}, h.options().dtype(at::kFloat));
    cuda::mix_tokens(shape, h.data_ptr(), gate_up.data_ptr(), down.data_ptr(), small,
                     out.y.data_ptr(), out.scale.data_ptr<float>(), current_stream());
  } else {
    const at::Tensor act = at::empty({h.size(0) * h.size(1), shape.inner}, h.options());
    cuda::mix_channels(shape, h.data_ptr(), gate_up.data_ptr(), down.data_ptr(), small,
                       act.data_ptr(), out.y.data_ptr(), current_stream());
  }
  return out;
}

at::Tensor channel_act_backward(const at::Tensor& d_s, const at::Tensor& down,
                                const at::Tensor& gate_up) {
  const cuda::MixerShape shape = mixer_shape(d_s, down.size(1));
  const int64_t rows = d_s.size(0) * d_s.size(1);
  if (!runs_mixers(d_s, cuda::Pass::Backward) || !cuda::differentiates_act(shape)) {
    const at::Tensor d_act = at::mm(d_s.view({rows, d_s.size(2)}), down);
    return swiglu_backward(gate_up, d_act, rows).view({rows, 2 * shape.inner});
  }
  for (const at::Tensor& tensor : {d_s, down, gate_up}) require_vectors(tensor, tensor.size(-1));
  at::Tensor d_gate_up = at::empty({rows, 2 * shape.inner}, d_s.options());
  cuda::channel_act_backward(shape, d_s.data_ptr(), down.data_ptr(), gate_up.data_ptr(),
                             d_gate_up.data_ptr(), current_stream());
  return d_gate_up;
}

MixerGradients token_mixer_backward(const at::Tensor& h, const Normed& normed,
                                    const at::Tensor& gate_up_t, const at::Tensor& down,
                                    const at::Tensor& d_y) {
  const int64_t inner = down.size(1);
  const cuda::MixerShape shape = mixer_shape(h, inner);
  for (const at::Tensor& tensor : {h, normed.y, gate_up_t, down, d_y})
    require_vectors(tensor, tensor.size(-1));
  const at::Tensor d_h = at::empty_like(h);
  const at::Tensor d_s = at::empty_like(h);
  const at::Tensor act = at::empty({h.size(0), inner, h.size(2)}, h.options());
  const at::Tensor d_gate_up = at::empty({h.size(0), 2 * inner, h.size(2)}, h.options());
  const cuda::TokenGradients out{d_h.data_ptr(), d_s.data_ptr(), act.data_ptr(),
                                 d_gate_up.data_ptr()};
  cuda::mix_tokens_backward(
      shape, {h.data_ptr(), normed.y.data_ptr(), normed.scale.data_ptr<float>()}, d_y.data_ptr(),
      gate_up_t.data_ptr(), down.data_ptr(), out, current_stream());
  const cuda::GradientParts parts = cuda::gradient_parts(shape);
  const at::Tensor sums =
      at::empty({parts.count, parts.rows, parts.columns}, h.options().dtype(at::kFloat));
  cuda::token_gradients(shape, h.data_ptr(), out, sums.data_ptr<float>(), current_stream());
  const at::Tensor total = sums.sum(0).narrow(1, 0, shape.state.positions);
  return {d_h, total.narrow(0, inner, 2 * inner), total.narrow(0, 0, inner).t()};
}

}  // namespace driftless::lab
