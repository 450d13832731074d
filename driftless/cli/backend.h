// SPDX-License-Identifier: Apache-2.0
// Which backend runs a model: the CPU engine, or libtorch where the build has it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "driftless/reason/reasoner.h"
#include "driftless/store/checkpoint.h"

namespace driftless::cli {

struct BackendOptions {
  std::string device = "cpu";  ///< a name of kDeviceNames
  std::string dtype = "f32";   ///< f32; on cuda also bf16
  int64_t threads = 1;
  int64_t slots = 0;  ///< 0: as many as keep the device busy
};

inline constexpr std::array<std::string_view, 3> kDeviceNames = {"cpu", "cpu-torch", "cuda"};

/// Throws InvalidArgument on an unknown device, Unsupported on a device or type that the build or
/// the machine does not have.
std::unique_ptr<reason::Reasoner> make_reasoner(const store::Checkpoint& checkpoint,
                                                const BackendOptions& options);

/// make_reasoner on libtorch (optional/torch_backend.cc); throws Unsupported in builds without it.
std::unique_ptr<reason::Reasoner> make_torch_backend(const store::Checkpoint& checkpoint,
                                                     const BackendOptions& options);

}  // namespace driftless::cli
