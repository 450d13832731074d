// SPDX-License-Identifier: Apache-2.0
// What the checks of a device share: random values, moving them there, comparing what comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/base/rng.h"
#include "driftless/lab/check/check.h"

namespace driftless::lab {

class CheckKit {
 public:
  CheckKit(at::Device device, const std::function<void(const CheckResult&)>& report)
      : device_(device), report_(report) {}

  [[nodiscard]] at::Device device() const { return device_; }
  [[nodiscard]] bool all_passed() const { return all_passed_; }

  /// What the device computes in: a CPU trains in float32 alone.
  [[nodiscard]] std::vector<at::ScalarType> types() const;

  /// Normal values that all types hold exactly, in float64 on the CPU.
  at::Tensor random(const std::vector<int64_t>& sizes, double scale = 1);

  [[nodiscard]] at::Tensor there(const at::Tensor& values, at::ScalarType type) const {
    return values.to(type).to(device_);
  }

  /// Reports ||got - expected|| / ||expected||.
  void compare(const std::string& name, const at::Tensor& got, const at::Tensor& expected,
               double bound);
  /// Reports a figure that must not exceed the bound.
  void report(const std::string& name, double error, double bound);

 private:
  at::Device device_;
  const std::function<void(const CheckResult&)>& report_;
  Rng rng_{20};
  bool all_passed_ = true;
};

double relative_error(const at::Tensor& got, const at::Tensor& expected);

/// Fake quantization, forward bit for bit and backward, alone and fused with SwiGLU.
void check_fake_quant(CheckKit& kit);

/// Integers on the device, for one that has the kernels: every bit against the native engine.
void check_integers(CheckKit& kit, const MakeNative& make_native);

/// Rotary positions, attention, and a whole step of every architecture, with gradients.
void check_modules(CheckKit& kit);

}  // namespace driftless::lab
