// SPDX-License-Identifier: Apache-2.0
// The CPU backend in float32 or bfloat16, with quantization simulated where a plan asks for it: any
// configuration of TRM, HRM, EqR and untied TRM, with the structure from model's schedule and
// shapes. Results depend on the weights and the board only: not on the number of threads, not on
// the number of slots or what the other slots hold.
#pragma once

#include <cstdint>
#include <memory>

#include "driftless/integer/accumulator.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/reasoner.h"
#include "driftless/simulate/dtype.h"
#include "driftless/store/packed_model.h"

namespace driftless::simulate {

struct CpuOptions {
  int64_t slots = 8;
  int64_t threads = 1;
  Dtype dtype = Dtype::Float32;
  /// Best for this processor unless said; a set that does nothing leaves the bare matmuls.
  const loop::EpilogueSet* epilogues = nullptr;
  /// Fake-quantizes weights now and activations in every call; null or empty keeps float. A dynamic
  /// scale of a whole tensor is that of one board. Must be calibrated; not needed afterwards. Under
  /// BFloat16 quantized values are rounded on the way into a product as all others are.
  const quant::QuantPlan* plan = nullptr;
  /// Multiplies the layers of the plan as integers whose sums run through an accumulator of that
  /// width, to see what a narrow one does; slower than simulation. Null simulates.
  const integer::Accumulator* accumulator = nullptr;
};

/// The checkpoint is copied into a layout of its own and not needed afterwards. Throws what
/// store::require_complete throws, InvalidArgument on bad options or a plan that is not calibrated,
/// BadConfig on a plan for another model, Unsupported when an accumulator is asked for and a layer
/// of the plan has no integer products (see require_integer_layers). A step throws Numeric when an
/// activation to be quantized is not finite, naming board, layer and call.
std::unique_ptr<reason::Reasoner> make_cpu_reasoner(const store::Checkpoint& checkpoint,
                                                    const CpuOptions& options);

/// The same for a packed model, which brings its plan: bit for bit what its source gives under that
/// plan. options.plan and options.accumulator are ignored.
std::unique_ptr<reason::Reasoner> make_cpu_reasoner(const store::PackedModel& packed,
                                                    const CpuOptions& options);

/// The plan without its quantizers: transforms alone.
quant::QuantPlan without_quantizers(const quant::QuantPlan& plan);

/// Throws Unsupported, with the layer's name, for a plan whose layers cannot be multiplied as
/// integers: formats that are none, activations without a window or with other scales than one per
/// row or block, and the halting head, which is no matrix product.
void require_integer_layers(const quant::QuantPlan& plan);

/// Floating-point operations of the matrix products of one supervision step of one board.
int64_t step_flops(const model::ModelConfig& config);

}  // namespace driftless::simulate
