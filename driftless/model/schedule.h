// SPDX-License-Identifier: Apache-2.0
// The recursion of one supervision step as a list of network calls. Each call is
// state <- net(state + injection), then what `after` says.
#pragma once

#include <cstdint>
#include <vector>

#include "driftless/model/config.h"

namespace driftless::model {

/// z_H is read out by the heads (the answer), z_L is scratch.
enum class State { H, L };
/// AnswerAndInput is z_H + x, summed before it is added to z_L; Scratch is z_L.
enum class Injection { AnswerAndInput, Scratch };

struct NetworkCall {
  int64_t network;  // index into networks(config)
  State updates;
  Injection injection;
  After after;
  bool has_gradient;  ///< whether training differentiates this call, see Gradients

  bool operator==(const NetworkCall&) const = default;
};

/// The H * (L + 1) calls of one supervision step, in order. Requires a valid configuration.
std::vector<NetworkCall> schedule(const ModelConfig& config);

}  // namespace driftless::model
