// SPDX-License-Identifier: Apache-2.0
// Sixteen columns a vector: AVX-512 VNNI.
#include <cstring>

#include <immintrin.h>

#include "driftless/integer/kernels/dot_kernels.h"
#include "driftless/quant/kernels/kernel_set.h"

namespace driftless::integer {
namespace {

#include "driftless/integer/kernels/isa/avx512_dot.inc"

}  // namespace

namespace avx512vnni {
extern constinit const KernelSet kKernels = DotKernels<Avx512Vnni>::set("avx512vnni", &kEncoders);
}  // namespace avx512vnni

}  // namespace driftless::integer
