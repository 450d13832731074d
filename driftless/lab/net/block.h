// SPDX-License-Identifier: Apache-2.0
// One block: what mixes positions, then what mixes channels, each followed by residual and norm.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <ATen/ATen.h>

#include "driftless/lab/net/attention.h"
#include "driftless/lab/net/layers.h"
#include "driftless/lab/net/sublayers.h"
#include "driftless/model/config.h"

namespace driftless::lab {

using WeightLookup = std::function<LinearWeight(const std::string& name)>;

/// Runs blocks of its own in place of a network's.
class BlockEngine {
 public:
  BlockEngine() = default;
  virtual ~BlockEngine() = default;
  BlockEngine(const BlockEngine&) = delete;
  BlockEngine& operator=(const BlockEngine&) = delete;

  /// The block whose weights' names start with `prefix`: h [B, T, D] -> [B, T, D].
  [[nodiscard]] virtual at::Tensor run(const std::string& prefix, const at::Tensor& h,
                                       const Site& site) const = 0;
};

/// How SwiGLUs run: as one function each, or layer by layer, as they always do where a tap looks.
enum class Sublayers : uint8_t { Fused, Apart };

class Block {
 public:
  /// Takes the weights whose names start with `prefix`.
  Block(const model::ModelConfig& config, const std::string& prefix, const WeightLookup& weights,
        Sublayers sublayers, const BlockEngine* engine);

  /// h [B, T, D] -> [B, T, D].
  [[nodiscard]] at::Tensor run(const at::Tensor& h, const RopeTables& rope, const Site& site) const;

 private:
  struct Swiglu {
    LinearWeight gate_up;
    LinearWeight down;
    SwigluWeights fused;
  };
  static Swiglu bind_swiglu(const std::string& prefix, const WeightLookup& weights);
  [[nodiscard]] at::Tensor mix_tokens_apart(const at::Tensor& h, const Site& site) const;
  [[nodiscard]] at::Tensor mix_channels_apart(const at::Tensor& h, const Site& site) const;

  std::string prefix_;
  const BlockEngine* engine_;  // null: torch's operations
  bool has_attention_;
  Sublayers sublayers_;
  int64_t heads_;
  double eps_;
  AttentionWeights attention_;
  Swiglu tokens_;
  Swiglu channels_;
};

}  // namespace driftless::lab
