// SPDX-License-Identifier: Apache-2.0
// A linear layer that is trained through its quantizers. The network's copy of the weight holds the
// quantized values, see QuantizedModel; the input is quantized here, with its gradient.
#pragma once

#include "driftless/lab/quant/fake_quant.h"
#include "driftless/lab/quant/layer_quantizer.h"

namespace driftless::lab {

class TrainedLinear : public LayerQuantizer {
 public:
  TrainedLinear(FakeQuantizer weight, FakeQuantizer input);

  [[nodiscard]] at::Tensor linear(const at::Tensor& input, const LinearWeight& weight,
                                  const Site& site) const override;
  [[nodiscard]] Multiplier multiplier() const override { return Multiplier::Network; }
  [[nodiscard]] const FakeQuantizer* input() const override;

  [[nodiscard]] const FakeQuantizer& weight() const { return weight_; }

 private:
  FakeQuantizer weight_;
  FakeQuantizer input_;
};

}  // namespace driftless::lab
