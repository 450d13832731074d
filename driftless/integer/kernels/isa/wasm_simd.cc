// SPDX-License-Identifier: Apache-2.0
// WebAssembly's vectors, whose only product that adds is that of 16-bit pairs.
#include "driftless/integer/kernels/isa/wasm_pairs.inc"

namespace driftless::integer::wasm_simd {
extern constinit const KernelSet kKernels = WasmPairs<0>::set("wasm_simd");
}  // namespace driftless::integer::wasm_simd
