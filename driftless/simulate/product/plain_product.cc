// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "driftless/base/buffer.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

/// Columns of b that lie together: two of the widest vectors. A panel is read from end to end for
/// every few rows of a, which strides of a whole row of b would throw out of the cache.
constexpr int64_t kPanel = 32;

/// b [k, n] as panels [n / kPanel, k, kPanel]; the last one ends with zeros.
void pack(const float* b, const MatmulShape& shape, Buffer& panels) {
  float* out = panels.data();
  for (int64_t first = 0; first < shape.n; first += kPanel) {
    const int64_t columns = std::min(kPanel, shape.n - first);
    for (int64_t i = 0; i < shape.k; ++i, out += kPanel) {
      const float* const row = b + i * shape.b.row + first * shape.b.column;
      for (int64_t j = 0; j < columns; ++j) out[j] = row[j * shape.b.column];
    }
  }
}

Buffer dense(const float* a, const MatmulShape& shape) {
  Buffer copy(shape.m * shape.k);
  for (int64_t i = 0; i < shape.m; ++i)
    std::copy_n(a + i * shape.a.row, shape.k, copy.data() + i * shape.k);
  return copy;
}

class PlainProduct : public Product {
 public:
  PlainProduct(const MatmulShape& shape, int64_t workers, const Constant& constant)
      : shape_(shape),
        has_constant_a_(constant.a != nullptr),
        has_constant_b_(constant.b != nullptr) {
    const int64_t panels_size = (shape.n + kPanel - 1) / kPanel * kPanel * shape.k;
    if (has_constant_a_) {
      constant_ = dense(constant.a, shape);
      shape_.a.row = shape.k;
    }
    if (has_constant_b_) pack(constant.b, shape, constant_ = Buffer(panels_size));
    for (int64_t i = 0; i < workers; ++i)
      per_worker_.emplace_back(has_constant_b_ ? 0 : panels_size);
  }

  void run(int64_t worker, const float* a, const float* b, float* c) const override {
    Buffer& mine = per_worker_[static_cast<size_t>(worker)];
    if (!has_constant_b_) pack(b, shape_, mine);
    const float* panel = has_constant_b_ ? constant_.data() : mine.data();
    for (int64_t first = 0; first < shape_.n; first += kPanel, panel += kPanel * shape_.k)
      kernels_.multiply_rounded({.a = has_constant_a_ ? constant_.data() : a,
                                 .a_stride = shape_.a.row,
                                 .b = panel,
                                 .b_stride = kPanel,
                                 .c = c + first,
                                 .c_stride = shape_.c.row,
                                 .m = shape_.m,
                                 .k = shape_.k,
                                 .n = std::min(kPanel, shape_.n - first)});
  }

 private:
  const loop::EpilogueSet& kernels_ = loop::epilogues();
  MatmulShape shape_;
  bool has_constant_a_, has_constant_b_;
  Buffer constant_;
  mutable std::vector<Buffer> per_worker_;  // each worker touches its own only
};

}  // namespace

std::unique_ptr<Product> make_plain_product(const MatmulShape& shape, int64_t workers,
                                            const Constant& constant) {
  return std::make_unique<PlainProduct>(shape, workers, constant);
}

}  // namespace driftless::simulate
