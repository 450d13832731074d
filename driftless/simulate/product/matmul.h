// SPDX-License-Identifier: Apache-2.0
// One matrix product of fixed shape, prepared once and run often: c = a b. Operands and result are
// float32 in memory; in bf16 the operands are rounded to bfloat16 (to nearest, ties to even) on the
// way in, constants once, and the sums are float32.
#pragma once

#include <cstdint>
#include <memory>

#include "driftless/integer/accumulator.h"
#include "driftless/quant/spec.h"
#include "driftless/simulate/dtype.h"

namespace driftless::simulate {

/// Values between two rows and between two columns; one of them is 1.
struct Strides {
  int64_t row;
  int64_t column = 1;
};

/// a is [m, k], b is [k, n], c is [m, n]. Columns of a and c are neighbors.
struct MatmulShape {
  int64_t m, k, n;
  Strides a, b, c;
};

/// At most one operand that never changes: it is copied into the layout that suits the processor
/// and left out of every run.
struct Constant {
  const float* a = nullptr;
  const float* b = nullptr;
};

/// Products of integers: both operands are quantized and their sums run through an accumulator.
struct IntegerArithmetic {
  quant::QuantSpec weights;  ///< of the constant operand; a row is an output
  quant::QuantSpec acts;     ///< of the other one; needs no more than a row at a time
  integer::Accumulator accumulator;
};

/// What a product computes with: floats of a type, or integers where those are given.
struct Arithmetic {
  Dtype dtype = Dtype::Float32;
  const IntegerArithmetic* integers = nullptr;
};

/// How a shape is multiplied; see Matmul.
class Product {
 public:
  virtual ~Product() = default;
  virtual void run(int64_t worker, const float* a, const float* b, float* c) const = 0;
};

class Matmul {
 public:
  /// For `workers` threads that may run it at the same time. Throws Unsupported where no library or
  /// kernel of this build can multiply the shape.
  Matmul(Dtype dtype, const MatmulShape& shape, int64_t workers, const Constant& constant = {});
  /// Integers need a constant operand, with its reduction axis along its rows.
  Matmul(const Arithmetic& arithmetic, const MatmulShape& shape, int64_t workers,
         const Constant& constant);

  /// Computes on the calling thread alone; `worker` is its number. The result is a function of the
  /// operands and the shape only. A constant operand is ignored.
  void run(int64_t worker, const float* a, const float* b, float* c) const {
    product_->run(worker, a, b, c);
  }

 private:
  std::unique_ptr<const Product> product_;
};

/// A b given as [n, k] row-major (as checkpoints hold linear weights) has these strides.
inline Strides transposed(int64_t k) { return {.row = 1, .column = k}; }

}  // namespace driftless::simulate
