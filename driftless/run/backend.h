// SPDX-License-Identifier: Apache-2.0
// Where a model runs, one row a device: the simulator on the CPU, the native backend on integers,
// and libtorch where the build has it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "driftless/quant/plan/plan.h"
#include "driftless/reason/reasoner.h"
#include "driftless/store/model_file.h"
#include "driftless/study/backend.h"

namespace driftless::run {

/// As many as the machine runs at once.
int64_t default_threads();

struct BackendOptions {
  std::string device = "cpu";  ///< the name of a Device
  std::string dtype = "f32";   ///< f32 or bf16
  int64_t threads = default_threads();
  int64_t slots = 0;  ///< 0: as many as keep the device busy
};

struct Device {
  std::string_view name;
  std::unique_ptr<reason::Reasoner> (*make)(const store::Checkpoint& checkpoint,
                                            const quant::QuantPlan& plan,
                                            const BackendOptions& options);
  /// Null where packed models do not run.
  std::unique_ptr<reason::Reasoner> (*make_packed)(const store::PackedModel& packed,
                                                   const BackendOptions& options) = nullptr;
  /// How quantized models run here.
  study::Execution execution = study::Execution::Simulated;
  /// The device of float models, and of quantized ones that are simulated beside this one.
  std::string_view simulator;
  /// Calibration runs a board a thread, rather than as many boards at once as keep it busy.
  bool calibrates_by_thread = false;
  int64_t study_batch = 32;                   ///< boards at a time
  int64_t study_rows = study::kRowsTogether;  ///< side by side
};

std::span<const Device> devices();

/// Throws InvalidArgument on an unknown device.
const Device& find_device(std::string_view name);

/// The same options on the device's simulator.
BackendOptions simulating(BackendOptions options);

/// "cpu", "cuda", or with the type where it is not float32: "cuda bf16".
std::string backend_name(const BackendOptions& options);

/// Throws what find_device throws, InvalidArgument on an unknown type, Unsupported on a device
/// or type that the build or the machine does not have.
std::unique_ptr<reason::Reasoner> make_reasoner(const store::Checkpoint& checkpoint,
                                                const quant::QuantPlan& plan,
                                                const BackendOptions& options);

/// The same for a packed model, which brings its plan. Throws Unsupported where the device takes
/// none.
std::unique_ptr<reason::Reasoner> make_reasoner(const store::PackedModel& packed,
                                                const BackendOptions& options);

/// The same for a model file; a packed model's plan is its own.
std::unique_ptr<reason::Reasoner> make_reasoner(const store::ModelFile& model,
                                                const quant::QuantPlan& plan,
                                                const BackendOptions& options);

}  // namespace driftless::run
