// SPDX-License-Identifier: Apache-2.0
// The libtorch backend behind the Reasoner seam, on a CPU or a CUDA device. The states of all slots
// are one tensor; a step runs all active slots together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "driftless/base/text/enum_names.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/reasoner.h"
#include "driftless/store/checkpoint.h"
#include "driftless/store/packed_model.h"

namespace driftless::lab {

/// Type of the activations and of the weights that are multiplied.
enum class TorchType { F32, BF16 };
inline constexpr std::array<EnumName<TorchType>, 2> kTorchTypeNames = {
    {{TorchType::F32, "f32"}, {TorchType::BF16, "bf16"}}};
/// Throws InvalidArgument with the nearest name.
TorchType parse_torch_type(std::string_view name);

struct TorchOptions {
  std::string device = "cpu";  ///< cpu or cuda
  int64_t slots = 8;
  TorchType type = TorchType::F32;
  int64_t threads = 1;  ///< of this process' torch, and for EqR's random numbers
  /// What happens to linear layers; null for float. Not needed afterwards.
  const quant::QuantPlan* plan = nullptr;
};

/// The checkpoint is not needed afterwards. EqR's random numbers are those of the CPU backend. An
/// observer sees a point of all slots before the next point. Throws what store::require_complete
/// throws, what quant::require_fits and quant::PlannedLayer throw, InvalidArgument on bad options,
/// Unsupported without the device or for bf16 on a CPU.
std::unique_ptr<reason::Reasoner> make_torch_reasoner(const store::Checkpoint& checkpoint,
                                                      const TorchOptions& options);

/// Makes the native engine, which lab does not know, with so many slots.
using MakeNative = std::function<std::unique_ptr<reason::Reasoner>(const store::PackedModel& model,
                                                                   int64_t slots)>;

/// The native engine's arithmetic on a CUDA device: its states and answers, bit for bit. The model
/// is not needed afterwards. Throws InvalidArgument on bad options or a type but f32, and
/// Unsupported for models that these kernels cannot run (integer_blocks.h).
std::unique_ptr<reason::Reasoner> make_integer_reasoner(const store::PackedModel& model,
                                                        const TorchOptions& options);

}  // namespace driftless::lab
