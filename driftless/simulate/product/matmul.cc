// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/product/matmul.h"

#include "driftless/simulate/product/products.h"

namespace driftless::simulate {
namespace {

std::unique_ptr<Product> make_product(const Arithmetic& arithmetic, const MatmulShape& shape,
                                      int64_t workers, const Constant& constant) {
  if (arithmetic.integers != nullptr)
    return make_integer_product(*arithmetic.integers, shape, constant);
  if (arithmetic.dtype == Dtype::Float32) return make_float_product(shape, workers, constant);
  if (const TileKernels* kernels = tile_kernels())
    return make_tile_product(*kernels, shape, workers, constant);
  if (has_bf16_products()) return make_bf16_product(shape, workers, constant);
  return make_rounded_product(shape, workers, constant);
}

}  // namespace

Matmul::Matmul(Dtype dtype, const MatmulShape& shape, int64_t workers, const Constant& constant)
    : Matmul(Arithmetic{.dtype = dtype}, shape, workers, constant) {}

Matmul::Matmul(const Arithmetic& arithmetic, const MatmulShape& shape, int64_t workers,
               const Constant& constant)
    : product_(make_product(arithmetic, shape, workers, constant)) {}

}  // namespace driftless::simulate
