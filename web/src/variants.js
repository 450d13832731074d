// SPDX-License-Identifier: Apache-2.0
// What of the engine can run where: with relaxed vectors, with vectors, without. All are one module.
import {hasRelaxed, limitedTo} from "./vectors.js";

// The smallest module with a vector in it.
const kSimd = Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 23, 1, 21, 0,
  0xfd, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 11,
]);

/** The kernels of each variant, as DRIFTLESS_ISA names them. */
export const kernelsOf = {relaxed: "wasm_relaxed", simd: "wasm_simd", plain: "scalar"};

/** The names of those that can run here, best first. */
export function runnableVariants() {
  if (!WebAssembly.validate(kSimd)) return ["plain"];
  return hasRelaxed() ? ["relaxed", "simd", "plain"] : ["simd", "plain"];
}

/** A variant of the module, compiled, and the kernels that it is limited to. */
export async function compileEngine(variant, bytes) {
  const limit = kernelsOf[variant];
  const isWhole = variant === "relaxed";
  return {limit, module: await WebAssembly.compile(isWhole ? bytes : limitedTo(limit, bytes))};
}
