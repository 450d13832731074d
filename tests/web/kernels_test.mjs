// SPDX-License-Identifier: Apache-2.0
// Products of every kernel set of the module with vectors, and what tells relaxed vectors from others: node
// kernels_test.mjs, after scripts/build_web. The products are exact under whatever flags Node takes: where it computes
// relaxed vectors wrongly, that is noticed.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {readFileSync} from "node:fs";
import {fileURLToPath} from "node:url";

import {instantiated} from "../../web/src/instance.js";
import {limitedTo} from "../../web/src/vectors.js";
import {compileEngine, runnableVariants} from "../../web/src/variants.js";
import {flagSets} from "./relaxed_flags.mjs";

const module = readFileSync("build/wasm/web/kernels.wasm");

/// Multiplies with every kernel set of a variant.
async function multiply(variant) {
  const engine = await compileEngine(variant, module);
  const exports = await instantiated(engine.module, {DRIFTLESS_ISA: engine.limit});
  const count = exports.run();
  const text = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.text(), exports.text_bytes()));
  assert.ok(count > 0, text);
  console.log(`  ${variant}: ${count} products exact by ${text.trim()}`);
}

/// Whether a type of the module's functions has a vector in it.
function hasVectorTypes(bytes) {
  const isType = (byte) => byte === 0x7b;
  const size = bytes[9] < 128 ? [bytes[9], 10] : [(bytes[9] & 127) + (bytes[10] & 127) * 128, 11];
  assert.equal(bytes[8], 1, "the first section has the types");
  return bytes.subarray(size[1], size[1] + size[0]).some(isType);
}

if (process.argv[2] === "multiply") {
  for (const variant of runnableVariants()) await multiply(variant);
} else {
  // Each limit takes something out, and a wider one nothing after a narrower.
  const [scalar, vectors] = ["scalar", "wasm_simd"].map((limit) => limitedTo(limit, module));
  assert.deepEqual(limitedTo("wasm_simd", scalar), scalar);
  assert.notDeepEqual(limitedTo("scalar", vectors), vectors);
  assert.notDeepEqual(Buffer.from(vectors), module);
  assert.ok(!hasVectorTypes(module), "types of functions with vectors: engines without them refuse the module");
  for (const flags of flagSets) {
    if (spawnSync(process.execPath, [...flags, "-e", "0"]).status !== 0) continue;  // unknown to this Node
    const {status, stdout, stderr} = spawnSync(process.execPath, [...flags, fileURLToPath(import.meta.url), "multiply"],
      {encoding: "utf8"});
    console.log(`node ${flags.join(" ")}\n${stdout.trimEnd()}`);
    assert.equal(status, 0, stderr);
  }
  console.log("ok: products are exact under all flags");
}
