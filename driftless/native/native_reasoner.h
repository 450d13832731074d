// SPDX-License-Identifier: Apache-2.0
// The native backend: any configuration of TRM, HRM, EqR and untied TRM whose plan quantizes the
// linear layers of the recursive block to integers. Linear layers multiply integers exactly;
// norms, SiLU, residuals, embeddings, unquantized heads and, unless the plan has them in int8,
// attention's scores and values are float32 in the order of the simulating engine. Results do not
// depend on the instruction set, the number of threads or slots. Needs no library beyond the C++
// runtime.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/reason/reasoner.h"
#include "driftless/store/packed_model.h"

namespace driftless::native {

struct NativeOptions {
  int64_t slots = 8;
  int64_t threads = 1;
  const integer::KernelSet* kernels = nullptr;   ///< null: integer::kernels()
  const loop::EpilogueSet* epilogues = nullptr;  ///< null: the best ones of this processor
};

/// The model is copied into the layout of the kernels and not needed afterwards. Throws Unsupported
/// for a plan that cannot run on integers, naming the layer and why, and InvalidArgument on bad
/// options. A step throws Numeric when an activation to be quantized is not finite, naming board,
/// layer and call, and Unsupported for observers that want the inputs of layers.
std::unique_ptr<reason::Reasoner> make_native_reasoner(const store::PackedModel& model,
                                                       const NativeOptions& options);

/// Why the engine cannot run a model: what make_native_reasoner says of it as Unsupported; "" where
/// it can.
std::string why_simulated(const store::PackedModel& model);

/// The windows that a plan for this engine gives quantizers that have none: mx formats, and blocks
/// with scale=, of which wider ones cost speed and brought no boards (docs/results/rounding.md).
inline constexpr int64_t kDefaultWindow = 4;
inline constexpr int64_t kDefaultScaleWindow = 0;
/// Of the latter where inputs are changes, whose blocks differ more than those of inputs do. Scales
/// that such a window does not suit keep 0.
inline constexpr int64_t kDeltaScaleWindow = 3;

/// The same with that window where integers in blocks come without one.
quant::QuantSpec with_window(quant::QuantSpec spec, bool delta = false);
quant::QuantPlan with_windows(quant::QuantPlan plan);

}  // namespace driftless::native
