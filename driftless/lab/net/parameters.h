// SPDX-License-Identifier: Apache-2.0
// A model's tensors for training: every trained weight is a view of one flat float32 vector, so
// that gradients, moments, averages and copies are vectors of the same layout and an optimizer step
// is one pass.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/base/rng.h"
#include "driftless/lab/quant/layer_quantizer.h"
#include "driftless/model/config.h"

namespace driftless::lab {

/// Where each trained weight lies in a flat vector. Starts are multiples of 8 elements (16 bytes in
/// bfloat16); the gaps stay zero.
class ParameterLayout {
 public:
  explicit ParameterLayout(const model::ModelConfig& config);

  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    int64_t begin;
    int64_t count;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] int64_t size() const { return size_; }

  /// The named weight as a view of `flat`. Requires a flat vector of size() values. Throws
  /// InvalidArgument on a name the model does not have.
  [[nodiscard]] at::Tensor view(const at::Tensor& flat, std::string_view name) const;

 private:
  std::vector<Entry> entries_;
  int64_t size_ = 0;
};

class BlockEngine;

/// Flat vectors of one layout, as a network multiplies them.
struct FlatWeights {
  at::Tensor masters;  ///< float32
  at::Tensor copy;     ///< in the type of the activations: what is multiplied; may be `masters`
  at::Tensor grads;    ///< float32, collects the copy's gradients; undefined where none are wanted
  const LayerQuantizers* quantizers = nullptr;  ///< outlive the network; null is a float model
  const BlockEngine* engine = nullptr;          ///< likewise; null: torch's operations
};

/// A copy of the values, one after the other.
at::Tensor tensor_of(std::span<const float> values, at::Device device);

/// Named tensors, as a checkpoint holds them.
using NamedTensors = std::map<std::string, at::Tensor, std::less<>>;

/// The published initialization: truncated normals with standard deviation 1/sqrt(fan_in) (token
/// table 1/sqrt(D)), q_head weight 0 and bias -5, learned noise scales 0, initial states with
/// standard deviation 1 rounded to bfloat16. Float32 on the CPU.
NamedTensors initial_weights(const model::ModelConfig& config, Rng& rng);

/// Values cut off at two standard deviations whose own standard deviation is `std`.
at::Tensor truncated_normal(const std::vector<int64_t>& shape, double std, Rng& rng);

/// The same from torch's generator of the device.
at::Tensor random_truncated_normal(const std::vector<int64_t>& shape, double std,
                                   at::Device device);

/// A flat vector filled from named tensors. Throws BadFile naming `where` when one is missing or
/// has another shape.
at::Tensor to_flat(const ParameterLayout& layout, const NamedTensors& named,
                   std::string_view where);

/// The inverse of to_flat, as copies on the CPU.
NamedTensors to_named(const ParameterLayout& layout, const at::Tensor& flat);

}  // namespace driftless::lab
