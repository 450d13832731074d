// SPDX-License-Identifier: Apache-2.0
// The CPU backend in float32 or bfloat16, with quantization simulated where a plan asks for it: any
// configuration of TRM, HRM, EqR and untied TRM, with the structure from model's schedule and
// shapes. Results depend on the weights and the board only: not on the number of threads, not on
// the number of slots or what the other slots hold.
#pragma once

#include <cstdint>
#include <memory>

#include "driftless/engine/dtype.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/quant/plan.h"
#include "driftless/reason/reasoner.h"
#include "driftless/store/packed_model.h"

namespace driftless::engine {

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
};

/// The checkpoint is copied into the engine's own layout and not needed afterwards. Throws what
/// store::require_complete throws, InvalidArgument on bad options or a plan that is not calibrated,
/// BadConfig on a plan for another model, Unsupported without oneDNN. A step throws Numeric when an
/// activation to be quantized is not finite, naming board, layer and call.
std::unique_ptr<reason::Reasoner> make_cpu_reasoner(const store::Checkpoint& checkpoint,
                                                    const CpuOptions& options);

/// The same for a packed model, which brings its plan: bit for bit what its source gives under that
/// plan. options.plan is ignored.
std::unique_ptr<reason::Reasoner> make_cpu_reasoner(const store::PackedModel& packed,
                                                    const CpuOptions& options);

/// Floating-point operations of the matrix products of one supervision step of one board.
int64_t step_flops(const model::ModelConfig& config);

}  // namespace driftless::engine
