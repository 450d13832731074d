// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <vector>

#include "driftless/engine/buffer.h"
#include "driftless/engine/products.h"

namespace driftless::engine {
namespace {

/// To the nearest bfloat16, ties to even; finite values only.
float round_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1)) & 0xffff0000u);
}

int64_t size_of(int64_t rows, int64_t columns, Strides strides) {
  return (rows - 1) * strides.row + (columns - 1) * strides.column + 1;
}

/// Copies a matrix in its own layout; what lies between its values is copied along.
void round_into(const float* from, Buffer& to) {
  for (float& value : to.span()) value = round_to_bf16(*from++);
}

class RoundedProduct : public Product {
 public:
  RoundedProduct(const MatmulShape& shape, int64_t workers, const Constant& constant)
      : has_constant_a_(constant.a != nullptr), has_constant_b_(constant.b != nullptr) {
    const int64_t a_size = size_of(shape.m, shape.k, shape.a);
    const int64_t b_size = size_of(shape.k, shape.n, shape.b);
    Buffer a(has_constant_a_ ? a_size : 0);
    Buffer b(has_constant_b_ ? b_size : 0);
    round_into(constant.a, a);
    round_into(constant.b, b);
    product_ = make_onednn_product(
        shape, workers,
        {has_constant_a_ ? a.data() : nullptr, has_constant_b_ ? b.data() : nullptr});
    for (int64_t i = 0; i < workers; ++i)
      per_worker_.push_back(
          {Buffer(has_constant_a_ ? 0 : a_size), Buffer(has_constant_b_ ? 0 : b_size)});
  }

  void run(int64_t worker, const float* a, const float* b, float* c) const override {
    Operands& mine = per_worker_[static_cast<size_t>(worker)];
    if (!has_constant_a_) round_into(a, mine.a);
    if (!has_constant_b_) round_into(b, mine.b);
    product_->run(worker, mine.a.data(), mine.b.data(), c);
  }

 private:
  struct Operands {
    Buffer a, b;
  };

  bool has_constant_a_, has_constant_b_;
  std::unique_ptr<Product> product_;
  mutable std::vector<Operands> per_worker_;  // each worker touches its own only
};

}  // namespace

std::unique_ptr<Product> make_rounded_product(const MatmulShape& shape, int64_t workers,
                                              const Constant& constant) {
  return std::make_unique<RoundedProduct>(shape, workers, constant);
}

}  // namespace driftless::engine
