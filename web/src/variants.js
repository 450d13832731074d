// SPDX-License-Identifier: Apache-2.0
// Which of the two modules an engine can run: with vectors, without.

// The smallest module with a vector in it.
const kSimd = Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 23, 1, 21, 0,
  0xfd, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 11,
]);

/** The names of those that can run here, best first. */
export function runnableVariants() {
  return WebAssembly.validate(kSimd) ? ["simd", "plain"] : ["plain"];
}
