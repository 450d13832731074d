// SPDX-License-Identifier: Apache-2.0
// The ways to multiply that Matmul chooses from.
#pragma once

#include <memory>

#include "driftless/simulate/kernels/tiles.h"
#include "driftless/simulate/product/matmul.h"

namespace driftless::simulate {

/// float32 through oneDNN: the only place that knows it. Throws Unsupported without oneDNN or when
/// oneDNN refuses the shape.
std::unique_ptr<Product> make_onednn_product(const MatmulShape& shape, int64_t workers,
                                             const Constant& constant);

/// bf16 on a processor that multiplies tiles.
std::unique_ptr<Product> make_tile_product(const TileKernels& kernels, const MatmulShape& shape,
                                           int64_t workers, const Constant& constant);

/// bf16 elsewhere: operands are rounded, then multiplied in float32 through oneDNN.
std::unique_ptr<Product> make_rounded_product(const MatmulShape& shape, int64_t workers,
                                              const Constant& constant);

/// Integers, one operand constant.
std::unique_ptr<Product> make_integer_product(const IntegerArithmetic& arithmetic,
                                              const MatmulShape& shape, const Constant& constant);

}  // namespace driftless::simulate
