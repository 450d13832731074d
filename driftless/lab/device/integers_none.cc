// SPDX-License-Identifier: Apache-2.0
// The kernels of integers without CUDA. A unit of its own: the tests link them run on a CPU
// instead.
#include "driftless/lab/cuda/integers/integers.h"
#include "driftless/lab/device/no_cuda.h"

namespace driftless::lab::cuda {

const char* why_not_encoded(const quant::QuantSpec&) noexcept { return ""; }
void encode(const quant::QuantSpec&, MatricesShape, const float*, const Integers&, int32_t*,
            Stream) {
  no_cuda("encode");
}
void multiply_swiglu(const Integers&, const Integers&, float*, Stream) {
  no_cuda("multiply_swiglu");
}
void multiply(const Integers&, const Integers&, float*, Stream) { no_cuda("multiply"); }
void multiply_transposed(const Integers&, const Integers&, int64_t, float*, Stream) {
  no_cuda("multiply_transposed");
}
void multiply_parts(const Integers&, const Integers&, int64_t, float*, Stream) {
  no_cuda("multiply_parts");
}
void multiply_shares(const Integers&, const Integers&, const int32_t*, int64_t, int64_t, float*,
                     Stream) {
  no_cuda("multiply_shares");
}
void sum_rows(const Integers&, int32_t*, Stream) { no_cuda("sum_rows"); }
void share(const float*, int64_t, float, const Integers&, Stream) { no_cuda("share"); }
void turn(RopeShape, const float*, const float*, float*, Stream) { no_cuda("turn"); }
void add_norm(NormAxis, StateShape, const float*, const float*, float, float*, Stream) {
  no_cuda("add_norm");
}
void multiply_in_order(HeadShape, const float*, const float*, float*, Stream) {
  no_cuda("multiply_in_order");
}
void multiply_in_double(HeadShape, const float*, const float*, const float*, float*, Stream) {
  no_cuda("multiply_in_double");
}

}  // namespace driftless::lab::cuda
