// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/trained_linear.h"

#include <utility>

#include "driftless/lab/net/layers.h"

namespace driftless::lab {

TrainedLinear::TrainedLinear(FakeQuantizer weight, FakeQuantizer input)
    : weight_(std::move(weight)), input_(std::move(input)) {}

at::Tensor TrainedLinear::linear(const at::Tensor& input, const LinearWeight& weight,
                                 const Site& site) const {
  const at::Tensor seen = tapped(input, weight.name, site);
  return product(input_(seen, NormAxis::Channels, site.call), weight);
}

const FakeQuantizer* TrainedLinear::input() const {
  return input_.spec().is_none() ? nullptr : &input_;
}

}  // namespace driftless::lab
