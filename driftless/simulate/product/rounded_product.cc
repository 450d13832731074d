// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <vector>

#include "driftless/base/buffer.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

/// To the nearest bfloat16, ties to even; finite values only.
float round_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1)) & 0xffff0000u);
}

/// A matrix by its runs of neighboring values.
struct Runs {
  int64_t count;
  int64_t length;
  int64_t stride;

  [[nodiscard]] int64_t size() const { return count * length; }
};

Runs runs_of(int64_t rows, int64_t columns, Strides strides) {
  if (strides.column == 1) return {rows, columns, strides.row};
  return {columns, rows, strides.column};
}

/// How the copy of such a matrix lies, run after run.
Strides dense(const Runs& runs, Strides strides) {
  return strides.column == 1 ? Strides{runs.length, 1} : Strides{1, runs.length};
}

void round_into(const float* from, const Runs& runs, Buffer& to) {
  float* out = to.data();
  for (int64_t run = 0; run < runs.count; ++run, from += runs.stride)
    for (int64_t i = 0; i < runs.length; ++i) *out++ = round_to_bf16(from[i]);
}

class RoundedProduct : public Product {
 public:
  RoundedProduct(const MatmulShape& shape, int64_t workers, const Constant& constant)
      : has_constant_a_(constant.a != nullptr),
        has_constant_b_(constant.b != nullptr),
        a_(runs_of(shape.m, shape.k, shape.a)),
        b_(runs_of(shape.k, shape.n, shape.b)) {
    MatmulShape copied = shape;
    copied.a = dense(a_, shape.a);
    copied.b = dense(b_, shape.b);
    Buffer a(has_constant_a_ ? a_.size() : 0);
    Buffer b(has_constant_b_ ? b_.size() : 0);
    if (has_constant_a_) round_into(constant.a, a_, a);
    if (has_constant_b_) round_into(constant.b, b_, b);
    product_ = make_float_product(
        copied, workers,
        {has_constant_a_ ? a.data() : nullptr, has_constant_b_ ? b.data() : nullptr});
    for (int64_t i = 0; i < workers; ++i)
      per_worker_.push_back(
          {Buffer(has_constant_a_ ? 0 : a_.size()), Buffer(has_constant_b_ ? 0 : b_.size())});
  }

  void run(int64_t worker, const float* a, const float* b, float* c) const override {
    Operands& mine = per_worker_[static_cast<size_t>(worker)];
    if (!has_constant_a_) round_into(a, a_, mine.a);
    if (!has_constant_b_) round_into(b, b_, mine.b);
    product_->run(worker, mine.a.data(), mine.b.data(), c);
  }

 private:
  struct Operands {
    Buffer a, b;
  };

  bool has_constant_a_, has_constant_b_;
  Runs a_, b_;
  std::unique_ptr<Product> product_;
  mutable std::vector<Operands> per_worker_;  // each worker touches its own only
};

}  // namespace

std::unique_ptr<Product> make_rounded_product(const MatmulShape& shape, int64_t workers,
                                              const Constant& constant) {
  return std::make_unique<RoundedProduct>(shape, workers, constant);
}

}  // namespace driftless::simulate
