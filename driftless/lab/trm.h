// SPDX-License-Identifier: Apache-2.0
// TRM with the token mixer on libtorch: one supervision step from carried states to logits.
// Shapes: states [B, T, D], inputs [B, S] tokens as uint8, logits [B, S, V], halt [B].
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/parameters.h"
#include "driftless/lab/sublayers.h"
#include "driftless/model/config.h"

namespace driftless::lab {

struct States {
  at::Tensor h;  ///< z_H, read out as the answer
  at::Tensor l;  ///< z_L, scratch
};

struct StepOutput {
  States states;      ///< detached
  at::Tensor logits;  ///< float32
  at::Tensor halt;    ///< float32 halting logit
};

/// Flat vectors of one layout.
struct FlatWeights {
  at::Tensor masters;  ///< float32
  at::Tensor copy;     ///< the same values in the type of the activations; may be `masters`
  at::Tensor grads;    ///< float32, collects gradients; undefined where none are wanted
};

class Trm {
 public:
  /// Binds the network to its weights. Initial states come as [D]. Throws Unsupported for models
  /// other than TRM with the token mixer and no prefix rows.
  Trm(const model::ModelConfig& config, const FlatWeights& weights, const States& initial);

  /// Reads the copies anew after an optimizer step has changed them.
  void refresh();

  /// One supervision step: all rounds but the last without gradients. Boards are independent, so
  /// the rounds without gradients run on `chunk` boards at a time: small chunks keep the inner
  /// activations in the device's cache.
  [[nodiscard]] StepOutput step(const States& states, const at::Tensor& inputs,
                                int64_t chunk) const;

  /// [D] each, in the type of the activations.
  [[nodiscard]] const States& initial() const { return initial_; }
  [[nodiscard]] States initial_states(int64_t boards) const;

 private:
  struct Block {
    SwigluWeights tokens;
    SwigluWeights channels;
  };

  /// The named weight, cast to the type of the activations.
  [[nodiscard]] at::Tensor cast(std::string_view name) const;
  [[nodiscard]] at::Tensor embed(const at::Tensor& inputs) const;
  [[nodiscard]] at::Tensor net(const at::Tensor& h) const;
  [[nodiscard]] States round(States states, const at::Tensor& x) const;
  [[nodiscard]] States rounds_without_gradients(const States& states, const at::Tensor& x,
                                                int64_t chunk) const;

  model::ModelConfig config_;
  Layout layout_;
  NamedTensors masters_;  ///< views of the flat masters; their gradients are views of the flat ones
  at::Tensor copy_;
  States initial_;
  std::vector<Block> blocks_;
};

}  // namespace driftless::lab
