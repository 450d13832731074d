// SPDX-License-Identifier: Apache-2.0
// Fake quantization with gradients. Forward is quant::Quantizer bit for bit. Backward passes the
// gradient straight through, and stops it where a value is clipped:
//
//   scales from the values, or fixed   zero where x / s lies beyond the grid by more than half the
//                                      distance of its last two values
//   learned scales (LSQ)               zero where |x / s| >= Q, Q the largest value of the grid;
//                                      d log s = g s sum d_out e, where e is q(x / s) - x / s
//                                      inside, the end of the grid outside, and g = 1 / sqrt(N Q)
//
// Scales are learned as log s. N counts the values of one board (of one weight or channel) that
// share the scale.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/ATen.h>

#include "driftless/lab/cuda/quant/fake_quant.h"
#include "driftless/lab/device/ops.h"
#include "driftless/lab/quant/quantize.h"
#include "driftless/quant/spec.h"

namespace driftless::lab {

/// Static scales in float32 on the device of the values: one, one for each network call, or one for
/// each row of a weight. The owner keeps `values` up to date.
struct StaticScales {
  at::Tensor values;
  at::Tensor log_grads = {};  ///< of log s, added to; undefined where the scales are fixed
};

/// Throws BadConfig, `where` first, unless scales of the quantizer can be learned: an element
/// format that is symmetric, with a scale per tensor or channel.
void require_learnable(const quant::QuantSpec& spec, std::string_view where);

class FakeQuantizer {
 public:
  /// Scales from the values. A tensor scale is that of one board.
  explicit FakeQuantizer(const quant::QuantSpec& spec);
  FakeQuantizer(const quant::QuantSpec& spec, StaticScales scales);

  [[nodiscard]] const quant::QuantSpec& spec() const { return spec_; }

  /// The quantized values of x: [boards, rows, K] along Channels, [boards, K, rows] along Tokens.
  /// float32, on CUDA also bfloat16. Without gradients of its own.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, NormAxis axis, int64_t call = 0) const;
  /// The gradient of x, given that of forward(x); adds the gradient of a learned scale.
  [[nodiscard]] at::Tensor backward(const at::Tensor& x, const at::Tensor& d_out, NormAxis axis,
                                    int64_t call = 0) const;
  /// Adds backward(x) to `sum`.
  void add_backward(const at::Tensor& x, const at::Tensor& d_out, NormAxis axis, int64_t call,
                    at::Tensor& sum) const;

  /// forward(silu(gate) * up) of gate_up, in which gates come first along the axis; one pass over
  /// memory where the device and the format allow it.
  [[nodiscard]] at::Tensor swiglu(const at::Tensor& gate_up, NormAxis axis, int64_t call) const;
  /// The gradient of gate_up.
  [[nodiscard]] at::Tensor swiglu_backward(const at::Tensor& gate_up, const at::Tensor& d_out,
                                           NormAxis axis, int64_t call) const;

  /// forward() as a differentiable function; the gradient of a learned scale is added as always.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x, NormAxis axis, int64_t call = 0) const;

 private:
  struct Kernel;
  [[nodiscard]] std::optional<Kernel> kernel_for(const at::Tensor& x, NormAxis axis) const;
  /// The same of a SwiGLU's output x, in one pass.
  [[nodiscard]] std::optional<Kernel> fused_kernel_for(const at::Tensor& x, NormAxis axis) const;
  [[nodiscard]] bool has_learned_scales() const { return scales_.log_grads.defined(); }
  [[nodiscard]] int64_t scale_index(int64_t call) const;
  [[nodiscard]] bool has_row_scales() const;
  [[nodiscard]] at::Tensor scales_of(const at::Tensor& x, int64_t call) const;
  [[nodiscard]] std::optional<at::Tensor> padded_for_kernel(const at::Tensor& x,
                                                            NormAxis axis) const;
  /// Without a kernel of this file's own.
  [[nodiscard]] Quantized plain(const at::Tensor& x, NormAxis axis, int64_t call,
                                ClipMask mask) const;
  [[nodiscard]] at::Tensor learned_backward(const at::Tensor& x, const at::Tensor& d_out,
                                            NormAxis axis, int64_t call) const;
  void add_scale_gradient(const at::Tensor& sum, double count, int64_t call) const;
  void run_forward(const at::Tensor& in, cuda::QuantSource from, const Kernel& kernel, int64_t call,
                   at::Tensor& out) const;
  void run_backward(const at::Tensor& in, const at::Tensor& d_out, cuda::QuantSource from,
                    const Kernel& kernel, int64_t call, at::Tensor& d_in) const;

  quant::QuantSpec spec_;
  StaticScales scales_;
};

/// A quantizer as autograd can keep it, which is as an integer, and back.
inline int64_t to_handle(const FakeQuantizer* quantizer) {
  return reinterpret_cast<int64_t>(quantizer);
}
inline const FakeQuantizer* from_handle(int64_t handle) {
  return reinterpret_cast<const FakeQuantizer*>(handle);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace driftless::lab
