// SPDX-License-Identifier: Apache-2.0
// Stands in for onednn_product.cc where oneDNN was absent when driftless was built.
#include "driftless/simulate/product/products.h"

namespace driftless::simulate {

std::unique_ptr<Product> make_float_product(const MatmulShape& shape, int64_t workers,
                                            const Constant& constant) {
  return make_plain_product(shape, workers, constant);
}

bool has_bf16_products() { return false; }

std::unique_ptr<Product> make_bf16_product(const MatmulShape& shape, int64_t workers,
                                           const Constant& constant) {
  return make_rounded_product(shape, workers, constant);
}

}  // namespace driftless::simulate
