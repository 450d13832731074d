// SPDX-License-Identifier: Apache-2.0
// Rotary positions. Values i and i + w/2 of a segment of w values turn together by
// position * theta^(-2i/w). rope: a head is one segment and the position is the row of the state,
// prefix rows included. rope2d: a head is two segments, turned by the board's row and column.
#pragma once

#include <ATen/ATen.h>

#include "driftless/model/config.h"

namespace driftless::lab {

/// [T, segments of a head, half a segment] float32; undefined where nothing turns.
struct RopeTables {
  at::Tensor cos;
  at::Tensor sin;
};
RopeTables rope_tables(const model::ModelConfig& config, at::Device device);

enum class Turn { Forward, Back };

/// Turns queries and keys, the first 2 D of the 3 D values of each row of [B, T, 3 D], in place and
/// without autograd; in float32 for narrower types. Turning back is the gradient of turning
/// forward. Throws InvalidArgument on another shape.
void rotate_in_place(at::Tensor& qkv, const RopeTables& tables, Turn turn);

/// Differentiable; takes over `qkv`.
at::Tensor rotate(at::Tensor qkv, const RopeTables& tables);

}  // namespace driftless::lab
