// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "driftless/base/buffer.h"
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

using Packed = AlignedArray<uint16_t>;

int64_t tiles(int64_t count, int64_t length) { return (count + length - 1) / length; }

class TileProduct : public Product {
 public:
  TileProduct(const TileKernels& kernels, const MatmulShape& shape, int64_t workers,
              const Constant& constant)
      : kernels_(kernels),
        shape_(shape),
        counts_{tiles(shape.m, kTileRows), tiles(shape.k, kTileDepth), tiles(shape.n, kTileRows)},
        has_constant_a_(constant.a != nullptr),
        has_constant_b_(constant.b != nullptr) {
    if (has_constant_a_) pack_a(constant.a, constant_ = Packed(a_size()));
    if (has_constant_b_) pack_b(constant.b, constant_ = Packed(b_size()));
    for (int64_t i = 0; i < workers; ++i)
      per_worker_.push_back(
          {Packed(has_constant_a_ ? 0 : a_size()), Packed(has_constant_b_ ? 0 : b_size())});
  }

  void run(int64_t worker, const float* a, const float* b, float* c) const override {
    Operands& mine = per_worker_[static_cast<size_t>(worker)];
    if (!has_constant_a_) pack_a(a, mine.a);
    if (!has_constant_b_) pack_b(b, mine.b);
    kernels_.multiply({.a = has_constant_a_ ? constant_.data() : mine.a.data(),
                       .b = has_constant_b_ ? constant_.data() : mine.b.data(),
                       .tiles = counts_,
                       .c = c,
                       .c_stride = shape_.c.row,
                       .m = shape_.m,
                       .n = shape_.n});
  }

 private:
  struct Operands {
    Packed a, b;
  };

  [[nodiscard]] int64_t a_size() const { return counts_.m * counts_.k * kTileSize; }
  [[nodiscard]] int64_t b_size() const { return counts_.n * counts_.k * kTileSize; }

  void pack_a(const float* a, Packed& packed) const {
    kernels_.pack_rows(a, {shape_.m, shape_.k, shape_.a.row}, packed.data());
  }
  void pack_b(const float* b, Packed& packed) const {
    if (shape_.b.row == 1)
      kernels_.pack_pairs_of_columns(b, {shape_.n, shape_.k, shape_.b.column}, packed.data());
    else
      kernels_.pack_pairs_of_rows(b, {shape_.k, shape_.n, shape_.b.row}, packed.data());
  }

  const TileKernels& kernels_;
  MatmulShape shape_;
  TileCounts counts_;
  bool has_constant_a_, has_constant_b_;
  Packed constant_;
  mutable std::vector<Operands> per_worker_;  // each worker touches its own only
};

}  // namespace

std::unique_ptr<Product> make_tile_product(const TileKernels& kernels, const MatmulShape& shape,
                                           int64_t workers, const Constant& constant) {
  return std::make_unique<TileProduct>(kernels, shape, workers, constant);
}

}  // namespace driftless::simulate
