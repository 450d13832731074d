// SPDX-License-Identifier: Apache-2.0
// Made to be looked at, not to be fast: each call quantizes into memory of its own.
#include <vector>

#include "driftless/base/error.h"
#include "driftless/quant/quantizer.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

/// Element (row, column) of what is multiplied with the constant, row by row of the activations.
struct Turned {
  int64_t rows;
  Strides strides;
};

class IntegerProduct : public Product {
 public:
  IntegerProduct(const IntegerArithmetic& arithmetic, const MatmulShape& shape,
                 const Constant& constant)
      : is_constant_a_(constant.a != nullptr),
        k_(shape.k),
        in_(is_constant_a_ ? Turned{shape.n, {shape.b.column, shape.b.row}}
                           : Turned{shape.m, shape.a}),
        out_(is_constant_a_ ? Strides{shape.c.column, shape.c.row} : shape.c),
        quantizer_(arithmetic.acts),
        accumulator_(arithmetic.accumulator),
        product_(quant::Quantizer(arithmetic.weights)
                     .quantize({is_constant_a_ ? constant.a : constant.b,
                                is_constant_a_ ? shape.m : shape.n, shape.k}),
                 integer::kernels()) {
    DRIFTLESS_ASSERT(constant.a != nullptr || constant.b != nullptr);
  }

  void run(int64_t /*worker*/, const float* a, const float* b, float* c) const override {
    const float* const source = is_constant_a_ ? b : a;
    std::vector<float> rows(static_cast<size_t>(in_.rows * k_));
    for (int64_t r = 0; r < in_.rows; ++r)
      for (int64_t i = 0; i < k_; ++i)
        rows[static_cast<size_t>(r * k_ + i)] =
            source[r * in_.strides.row + i * in_.strides.column];
    const int64_t columns = product_.columns();
    std::vector<float> out(static_cast<size_t>(in_.rows * columns));
    product_.run(quantizer_.quantize({rows.data(), in_.rows, k_}), accumulator_,
                 quant::Mat{out.data(), in_.rows, columns});
    for (int64_t r = 0; r < in_.rows; ++r)
      for (int64_t i = 0; i < columns; ++i)
        c[r * out_.row + i * out_.column] = out[static_cast<size_t>(r * columns + i)];
  }

 private:
  bool is_constant_a_;
  int64_t k_;
  Turned in_;
  Strides out_;
  quant::Quantizer quantizer_;
  integer::Accumulator accumulator_;
  integer::AccumulatedProduct product_;
};

}  // namespace

std::unique_ptr<Product> make_integer_product(const IntegerArithmetic& arithmetic,
                                              const MatmulShape& shape, const Constant& constant) {
  return std::make_unique<IntegerProduct>(arithmetic, shape, constant);
}

}  // namespace driftless::simulate
