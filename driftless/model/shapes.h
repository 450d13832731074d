// SPDX-License-Identifier: Apache-2.0
// What follows from a configuration: widths, networks and the list of parameters with the names
// that checkpoints give them after `inner.`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/model/config.h"

namespace driftless::model {

/// T: prefix rows and cells.
int64_t positions_count(const ModelConfig& config);

/// Width of one attention head.
int64_t head_width(const ModelConfig& config);

/// Inner width of a SwiGLU over `width` channels: round(expansion * width * 2/3), ties to even,
/// then up to the next multiple of 256.
int64_t swiglu_inner(int64_t width, double expansion);

/// A stack of blocks that is called as one function of (state + injection).
struct Network {
  std::string name;  // prefix of its parameters: "L_level", "H_level", "L_level.cycles.3"
  int64_t num_layers;
};

/// Tied: L_level. By state: L_level, H_level. By cycle: L_level.cycles.0 … L_level.cycles.{L},
/// where the first L update z_L and the last updates z_H.
std::vector<Network> networks(const ModelConfig& config);

/// "L_level.layers.1": prefix of the parameters of one block.
std::string layer_name(const Network& network, int64_t layer);

/// Weight: trained and averaged. InitState: H_init and L_init, fixed vectors that are never
/// trained. PuzzleTable: trained apart, a row per puzzle, and not part of the published parameter
/// counts.
enum class ParamRole { Weight, InitState, PuzzleTable };

struct ParamSpec {
  std::string name;
  std::vector<int64_t> shape;
  ParamRole role;
};

/// After::Perturb: the logarithms of its deviations, relative to ModelConfig::noise_scale: [D].
inline constexpr std::string_view kLogScaleName = "transition.log_scale";

/// Every tensor of a checkpoint, in a fixed order. Linear weights are [out, in]; a qkv projection
/// holds all query heads, then all key heads, then all value heads; a gate_up projection holds the
/// gate, then the up half. Requires a valid configuration.
std::vector<ParamSpec> parameters(const ModelConfig& config);

/// Number of values of one tensor.
int64_t element_count(const ParamSpec& spec);

/// Values with role Weight: what the literature calls the model's parameter count.
int64_t trainable_count(const ModelConfig& config);

}  // namespace driftless::model
