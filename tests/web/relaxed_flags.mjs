// SPDX-License-Identifier: Apache-2.0
// Prints the flags under which this Node has relaxed vectors and computes them rightly: none, or those that Node 20
// needs, where they are behind a flag and the baseline compiler gets them wrong.
import {spawnSync} from "node:child_process";

export const flagSets = [[], ["--experimental-wasm-relaxed-simd"], ["--experimental-wasm-relaxed-simd", "--no-liftoff"]];

const question = `import("${new URL("../../web/src/vectors.js", import.meta.url)}")
  .then(({hasRelaxed}) => process.exit(hasRelaxed() ? 0 : 1))`;
const works = (flags) => spawnSync(process.execPath, [...flags, "-e", question]).status === 0;

if (import.meta.url === `file://${process.argv[1]}` || process.argv[1]?.endsWith("relaxed_flags.mjs"))
  console.log((flagSets.find(works) ?? []).join(" "));
