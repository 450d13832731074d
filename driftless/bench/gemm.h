// SPDX-License-Identifier: Apache-2.0
// Matrix products at the shapes of the models, in every number type, timed in turn with the peak of
// the int8 instructions. Each answer is checked before it is timed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driftless/bench/onednn_gemm.h"

namespace driftless::bench {

struct NamedShape {
  const char* name;
  GemmShape shape;
};

/// TRM with the token mixer, D 512 with 97 positions and D 256 with 81.
inline constexpr NamedShape kGemmShapes[] = {
    {"D512 gate_up", {3072, 512, 97}},        {"D512 down", {512, 1536, 97}},
    {"D512 tokens gate_up", {1024, 97, 512}}, {"D512 tokens down", {97, 512, 512}},
    {"D256 gate_up", {1536, 256, 81}},        {"D256 down", {256, 768, 81}},
    {"D256 tokens gate_up", {512, 81, 256}},  {"D256 tokens down", {81, 256, 256}},
};

struct GemmRow {
  std::string kernel;
  std::string shape_name;
  GemmShape shape;
  int64_t threads;
  double gflops;  ///< best
  double median_gflops;
  double share_of_int8_peak;           ///< of the best, of as many threads
  std::optional<double> ratio_to_f32;  ///< of the best, of as many threads; none without oneDNN
};

struct GemmOptions {
  int64_t threads = 1;  ///< besides one
  int64_t rounds = 20;
};

/// All number types at one shape. Throws Internal when an answer is wrong or a native product is
/// faster than the peak of its instructions.
std::vector<GemmRow> race_gemms(const NamedShape& shape, const GemmOptions& options);

/// Throws Internal unless sampled elements of c are a b^T within the error of a float32 sum of k
/// products and one rounding: (k + 1) * 2^-24 of the sum of magnitudes.
void require_product(const std::string& name, const GemmShape& shape, std::span<const float> a,
                     std::span<const float> b, std::span<const float> c);

}  // namespace driftless::bench
