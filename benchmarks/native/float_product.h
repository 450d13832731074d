// SPDX-License-Identifier: Apache-2.0
// The float32 product that native ones are compared with: oneDNN's, one thread, weights prepared.
#pragma once

#include <cstdint>
#include <memory>

namespace driftless::native {

struct FloatShape {
  int64_t m, k, n;
};

/// Whether this build has one.
bool has_float_product();

class FloatProduct {
 public:
  explicit FloatProduct(const FloatShape& shape);
  ~FloatProduct();
  FloatProduct(const FloatProduct&) = delete;
  FloatProduct& operator=(const FloatProduct&) = delete;
  void run();
  [[nodiscard]] float* in();
  [[nodiscard]] const float* out() const;

 private:
  struct Operands;
  std::unique_ptr<Operands> operands_;
};

}  // namespace driftless::native
