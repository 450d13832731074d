// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/optimize/optimizer.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/lab/device/device.h"

namespace driftless::lab {
namespace {

void step_on_cpu(OptimizerState& state, const OptimizerOptions& options,
                 const cuda::StepScalars& scalars) {
  const auto beta1 = static_cast<float>(options.beta1);
  const auto beta2 = static_cast<float>(options.beta2);
  const auto decay = static_cast<float>(options.weight_decay);
  const auto rate = static_cast<float>(options.ema_rate);
  float* p = state.values.data_ptr<float>();
  const float* g = state.grads.data_ptr<float>();
  float* m = state.moment1.data_ptr<float>();
  float* v = state.moment2.data_ptr<float>();
  float* ema = state.ema.data_ptr<float>();
  for (int64_t i = 0; i < state.values.numel(); ++i) {
    m[i] += (1.0f - beta1) * (g[i] - m[i]);
    v[i] += (1.0f - beta2) * (g[i] * g[i] - v[i]);
    const float d = std::sqrt(v[i]) * scalars.inverse_root_bias2;
    p[i] = p[i] * (1.0f - scalars.lr * decay) -
           scalars.lr * scalars.inverse_bias1 * std::atan2(m[i], d);
    ema[i] = (1.0f - rate) * p[i] + rate * ema[i];
  }
  if (state.copy.defined()) state.copy.copy_(state.values);
}

}  // namespace

cuda::StepScalars step_scalars(const OptimizerOptions& options, double lr, int64_t t) {
  DRIFTLESS_REQUIRE(t >= 1, ErrorCode::InvalidArgument, "optimizer: got step ", t,
                    ", expected 1 or more");
  const auto power = static_cast<double>(t);
  return {static_cast<float>(lr), static_cast<float>(1.0 / (1.0 - std::pow(options.beta1, power))),
          static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options.beta2, power)))};
}

OptimizerState fresh_optimizer_state(const at::Tensor& values, at::ScalarType activations) {
  OptimizerState state;
  state.values = values;
  state.grads = at::zeros_like(values);
  state.moment1 = at::zeros_like(values);
  state.moment2 = at::zeros_like(values);
  state.ema = values.clone();
  if (activations != at::kFloat) state.copy = values.to(activations);
  return state;
}

void optimizer_step(OptimizerState& state, const OptimizerOptions& options,
                    const at::Tensor& scalars, const at::Tensor& skip) {
  static_assert(sizeof(cuda::StepScalars) == 3 * sizeof(float));
  DRIFTLESS_REQUIRE(scalars.numel() == 3 && scalars.scalar_type() == at::kFloat,
                    ErrorCode::InvalidArgument, "optimizer: got ", scalars.numel(),
                    " scalars, expected 3 of float32");
  if (state.values.numel() == 0) return;
  const auto* values = reinterpret_cast<const cuda::StepScalars*>(scalars.data_ptr<float>());
  const bool* is_skipped = skip.data_ptr<bool>();
  if (!state.values.is_cuda()) {
    if (!*is_skipped) step_on_cpu(state, options, *values);
    return;
  }
  const cuda::FlatParameters flat{state.values.numel(),
                                  state.values.data_ptr<float>(),
                                  state.grads.data_ptr<float>(),
                                  state.moment1.data_ptr<float>(),
                                  state.moment2.data_ptr<float>(),
                                  state.ema.data_ptr<float>(),
                                  state.copy.defined() ? state.copy.data_ptr() : nullptr};
  const cuda::AdamConstants constants{
      static_cast<float>(options.beta1), static_cast<float>(options.beta2),
      static_cast<float>(options.weight_decay), static_cast<float>(options.ema_rate)};
  cuda::adam_atan2_step(flat, constants, values, is_skipped, current_stream());
}

}  // namespace driftless::lab
