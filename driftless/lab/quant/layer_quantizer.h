// SPDX-License-Identifier: Apache-2.0
// How a linear layer is quantized, its weight and what it is multiplied by: fixed by a plan
// (planned_linear.h), or trained through (trained_linear.h). A layer without a quantizer is float.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <ATen/ATen.h>

namespace driftless::lab {

class FakeQuantizer;
struct LinearWeight;
struct Site;

/// Who multiplies: the network by its copy of the weight, which holds the quantized values, or the
/// quantizer by a weight of its own.
enum class Multiplier : uint8_t { Network, Quantizer };

class LayerQuantizer {
 public:
  LayerQuantizer() = default;
  virtual ~LayerQuantizer() = default;
  // Autograd knows quantizers by their addresses.
  LayerQuantizer(const LayerQuantizer&) = delete;
  LayerQuantizer& operator=(const LayerQuantizer&) = delete;

  /// The layer's output for its input [boards, rows, in]: [boards, rows, out], of the same type.
  [[nodiscard]] virtual at::Tensor linear(const at::Tensor& input, const LinearWeight& weight,
                                          const Site& site) const = 0;

  [[nodiscard]] virtual Multiplier multiplier() const = 0;

  /// What quantizes the input where the network multiplies; null keeps float.
  [[nodiscard]] virtual const FakeQuantizer* input() const = 0;
};

/// By the name of the weight.
using LayerQuantizers = std::map<std::string, std::unique_ptr<const LayerQuantizer>, std::less<>>;

}  // namespace driftless::lab
