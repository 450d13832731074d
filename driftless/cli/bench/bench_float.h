// SPDX-License-Identifier: Apache-2.0
// driftless bench CHECKPOINT: the machine's own limits, matrix products at the models' shapes, and
// whole supervision steps, in every number type.
#pragma once

#include <cstdint>
#include <string>

namespace driftless::cli {

struct FloatBenchOptions {
  std::string model;
  std::string preset;  // "": the model
  int64_t width = 0;   // 0: the preset's
  std::string data;    // "": the bundled boards where they fit, otherwise blank ones
  int64_t boards = 0;  // 0: kFloatBenchBoards
  int64_t batch = 8;
  int64_t threads = 1;
  int64_t rounds = 20;
  double patience_s = 10;
  std::string json;
};

/// For the rate with adaptive halting.
inline constexpr int64_t kFloatBenchBoards = 4;

/// Prints the tables. Throws what reading files and running models throw.
void bench_float(const FloatBenchOptions& options);

}  // namespace driftless::cli
