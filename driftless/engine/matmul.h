// SPDX-License-Identifier: Apache-2.0
// One float32 matrix product of fixed shape, prepared once and run often: c = a b. This is the only
// place that knows oneDNN; without it, making a Matmul throws Unsupported.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace driftless::engine {

/// Values between two rows and between two columns; one of them is 1.
struct Strides {
  int64_t row;
  int64_t column = 1;
};

/// a is [m, k], b is [k, n], c is [m, n].
struct MatmulShape {
  int64_t m, k, n;
  Strides a, b, c;
};

class Matmul {
 public:
  /// For `workers` threads that may run it at the same time.
  Matmul(const MatmulShape& shape, int64_t workers);
  /// The same with a constant b, which is copied into the layout that suits the processor.
  Matmul(const MatmulShape& shape, int64_t workers, const float* constant_b);
  ~Matmul();
  Matmul(Matmul&&) noexcept;
  Matmul& operator=(Matmul&&) noexcept;

  /// Computes on the calling thread alone; `worker` is its number. The result is a function of the
  /// operands and the shape only. `b` is ignored where it is constant.
  void run(int64_t worker, const float* a, const float* b, float* c) const;

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

/// A b given as [n, k] row-major (as checkpoints hold linear weights) has these strides.
inline Strides transposed(int64_t k) { return {.row = 1, .column = k}; }

}  // namespace driftless::engine
