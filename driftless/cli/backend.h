// SPDX-License-Identifier: Apache-2.0
// Which backend runs a model: the CPU engine, the native engine on integers, or libtorch where the
// build has it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "driftless/cli/flags/flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/reasoner.h"
#include "driftless/store/packed_model.h"

namespace driftless::cli {

struct BackendOptions {
  std::string device = "cpu";  ///< a name of kDeviceNames
  std::string dtype = "f32";   ///< f32 or bf16
  int64_t threads = default_threads();
  int64_t slots = 0;  ///< 0: as many as keep the device busy
};

inline constexpr std::array<std::string_view, 4> kDeviceNames = {"cpu", "native", "cpu-torch",
                                                                 "cuda"};

/// --device, --native (which is a device), --dtype and --threads.
void add_device_flags(const Verb& verb, BackendOptions& options);
/// The same and --batch.
void add_backend_flags(const Verb& verb, BackendOptions& options);

/// Throws InvalidArgument on an unknown device.
void require_device(const BackendOptions& options);

/// "cpu", "cuda", or with the type where it is not float32: "cuda bf16".
std::string backend_name(const BackendOptions& options);

/// Throws what require_device throws, InvalidArgument on an unknown type, Unsupported on a device
/// or type that the build or the machine does not have.
std::unique_ptr<reason::Reasoner> make_reasoner(const store::Checkpoint& checkpoint,
                                                const quant::QuantPlan& plan,
                                                const BackendOptions& options);

/// The same for a packed model, which brings its plan, on the CPU.
std::unique_ptr<reason::Reasoner> make_reasoner(const store::PackedModel& packed,
                                                const BackendOptions& options);

/// reason::calibrate of the float model on that backend: on a CPU a board a thread at a time, on
/// another device as many as keep it busy.
void calibrate(const store::Checkpoint& checkpoint, const BackendOptions& options,
               std::span<const reason::Board> boards, std::span<quant::QuantPlan> plans);

}  // namespace driftless::cli
