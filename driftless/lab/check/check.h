// SPDX-License-Identifier: Apache-2.0
// Whether the device computes what the CPU computes, for machines that have an accelerator but no
// test framework.
#pragma once

#include <functional>
#include <string>

#include <ATen/ATen.h>

#include "driftless/lab/reasoner/torch_reasoner.h"

namespace driftless::lab {

/// One comparison: ||got - expected|| / ||expected|| (or what the name says) and the most it may
/// be.
struct CheckResult {
  std::string name;
  double error;
  double bound;
  [[nodiscard]] bool passed() const { return error <= bound; }  // false for NaN
};

/// Runs every kernel and quantizer, the sublayers and a step of every architecture with their
/// gradients, and the optimizer on `device` in float32 (on CUDA in bfloat16 too), on awkward
/// shapes, against plain float64 autograd on the CPU; and integers on a CUDA device against the
/// native engine. Returns whether all passed.
bool check_device(at::Device device, const MakeNative& make_native,
                  const std::function<void(const CheckResult&)>& report);

}  // namespace driftless::lab
