// SPDX-License-Identifier: Apache-2.0
// The ways to multiply that Matmul chooses from.
#pragma once

#include <memory>

#include "driftless/simulate/kernels/tiles.h"
#include "driftless/simulate/product/matmul.h"

namespace driftless::simulate {

/// float32 through oneDNN, and plain where the build has none: simulate/optional is the only place
/// that knows. Throws Unsupported when oneDNN refuses the shape.
std::unique_ptr<Product> make_float_product(const MatmulShape& shape, int64_t workers,
                                            const Constant& constant);

/// float32 on the kernels of `loop`, which need no library. Each sum runs over k in order and each
/// product is rounded before it is added, so that every processor gives the same bits.
std::unique_ptr<Product> make_plain_product(const MatmulShape& shape, int64_t workers,
                                            const Constant& constant);

/// bf16 on a processor that multiplies tiles.
std::unique_ptr<Product> make_tile_product(const TileKernels& kernels, const MatmulShape& shape,
                                           int64_t workers, const Constant& constant);

/// Whether oneDNN multiplies bfloat16 faster than float32 here: AVX-512 BF16 without AMX, whose
/// tiles are ours. DRIFTLESS_ISA and DNNL_MAX_CPU_ISA limit it.
bool has_bf16_products();

/// bf16 through oneDNN, where has_bf16_products(): sums are float32, subnormals count as zero.
/// Throws Unsupported when oneDNN refuses the shape.
std::unique_ptr<Product> make_bf16_product(const MatmulShape& shape, int64_t workers,
                                           const Constant& constant);

/// Whether products of bfloat16 are faster than those of float32, on tiles or otherwise.
inline bool has_fast_bf16() { return tile_kernels() != nullptr || has_bf16_products(); }

/// bf16 elsewhere: operands are rounded, then multiplied in float32.
std::unique_ptr<Product> make_rounded_product(const MatmulShape& shape, int64_t workers,
                                              const Constant& constant);

/// Integers, one operand constant.
std::unique_ptr<Product> make_integer_product(const IntegerArithmetic& arithmetic,
                                              const MatmulShape& shape, const Constant& constant);

}  // namespace driftless::simulate
