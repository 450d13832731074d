// SPDX-License-Identifier: Apache-2.0
// oneDNN's matrix product in three number types, the peer of native products: c = a b^T, b prepared
// once, a and b in the type already.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace driftless::bench {

/// a is [m, k], b is [n, k], c is [m, n].
struct GemmShape {
  int64_t n, k, m;
};

/// Keeps oneDNN to vector instructions, unless DNNL_MAX_CPU_ISA says otherwise: its AMX products
/// stop some virtual machines with an illegal instruction (seen with 2.6), and the int8 peak that
/// shares are taken of is that of vectors. Has an effect before oneDNN's first product only.
void keep_onednn_to_vectors();

/// Ends the OpenMP threads of its products, which would spin for a while beside what comes next.
void end_onednn_threads();

enum class GemmType : uint8_t { Float32, BFloat16, Int8 };

class OnednnGemm {
 public:
  virtual ~OnednnGemm() = default;
  virtual void run() = 0;
  /// What the last run gave.
  [[nodiscard]] virtual std::vector<float> result() const = 0;
};

/// For values that the type holds exactly. Null without oneDNN or where it has no such product.
std::unique_ptr<OnednnGemm> make_onednn_gemm(GemmType type, const GemmShape& shape,
                                             std::span<const float> a, std::span<const float> b,
                                             int64_t threads);

}  // namespace driftless::bench
