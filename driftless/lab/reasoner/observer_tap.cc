// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/reasoner/observer_tap.h"

namespace driftless::lab {

using reason::Observation;
using reason::Point;

at::Tensor ObserverTap::linear_input(std::string_view layer, int64_t call,
                                     const at::Tensor& input) {
  show({.point = Point::LinearInput, .call = call, .layer = layer}, input);
  return input;
}

void ObserverTap::quantized_input(std::string_view layer, int64_t call, const at::Tensor& values) {
  show({.point = Point::QuantizedInput, .call = call, .layer = layer}, values);
}

void ObserverTap::state(model::State which, int64_t call, const at::Tensor& values) {
  show({.point = which == model::State::H ? Point::StateH : Point::StateL, .call = call}, values);
}

void ObserverTap::show(const Observation& what, const at::Tensor& values) {
  if (!observer_.wants(what.point)) return;
  at::Tensor shown = values.detach();
  if (observer_.wants_extremes_only()) {
    const auto [low, high] = at::aminmax(shown.flatten(1), 1);
    shown = at::stack({low, high}, 1).unsqueeze(1);
  }
  const at::Tensor host = shown.to(at::kFloat).to(at::kCPU).contiguous();
  const int64_t rows = host.size(1);
  const int64_t columns = host.size(2);
  for (size_t board = 0; board < slots_.size(); ++board) {
    Observation seen = what;
    seen.slot = slots_[board];
    seen.values = {host.data_ptr<float>() + static_cast<int64_t>(board) * rows * columns, rows,
                   columns, columns};
    observer_.observe(seen);
  }
}

}  // namespace driftless::lab
