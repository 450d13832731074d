// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/native/float_product.h"

namespace driftless::native {

struct FloatProduct::Operands {};

bool has_float_product() { return false; }
FloatProduct::FloatProduct(const FloatShape&) {}
FloatProduct::~FloatProduct() = default;
void FloatProduct::run() {}
float* FloatProduct::in() { return nullptr; }
const float* FloatProduct::out() const { return nullptr; }

}  // namespace driftless::native
