// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "driftless/simulate/product/matmul.h"

#include "benchmarks/native/float_product.h"

namespace driftless::native {

struct FloatProduct::Operands {
  std::vector<float> a, b, c;
  simulate::Matmul matmul;

  explicit Operands(const FloatShape& s)
      : a(static_cast<size_t>(s.m * s.k), 0.5f),
        b(static_cast<size_t>(s.n * s.k), 0.25f),
        c(static_cast<size_t>(s.m * s.n)),
        matmul(simulate::Dtype::Float32,
               {.m = s.m,
                .k = s.k,
                .n = s.n,
                .a = {.row = s.k},
                .b = simulate::transposed(s.k),
                .c = {.row = s.n}},
               1, {.b = b.data()}) {}
};

bool has_float_product() { return true; }
FloatProduct::FloatProduct(const FloatShape& shape)
    : operands_(std::make_unique<Operands>(shape)) {}
FloatProduct::~FloatProduct() = default;
void FloatProduct::run() {
  operands_->matmul.run(0, operands_->a.data(), nullptr, operands_->c.data());
}
float* FloatProduct::in() { return operands_->a.data(); }
const float* FloatProduct::out() const { return operands_->c.data(); }

}  // namespace driftless::native
