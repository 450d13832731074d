// SPDX-License-Identifier: Apache-2.0
// The npm package in Node: node engine_test.mjs REFERENCE, after scripts/build_web.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

import {DriftlessError, load, Model, runnableVariants} from "../../web/src/index.js";
import {boards, checkpoint, compared, firstDifference, formats, model, reference} from "./reference.mjs";

const program = process.argv[2];
const sample = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4.";
const file = readFileSync(model);

const refuses = (promise, word, code) => assert.rejects(promise, (error) => {
  assert.ok(error instanceof DriftlessError, error.stack);
  assert.match(error.message, word);
  assert.doesNotMatch(error.message, /\n/);
  if (code) assert.equal(error.code, code);
  return true;
});

const tests = {
  async "every step has the CPU's bits"() {
    for (const [name, choice] of Object.entries(formats)) {
      const expected = reference(program, choice, compared);
      assert.equal(expected.length, compared);
      const variants = runnableVariants();
      if (!variants.includes("relaxed")) console.log("  SKIPPED: this Node has no relaxed vectors that compute rightly");
      for (const variant of variants) {
        const thinker = await load(file, {...choice, variant});
        assert.ok(thinker.info.native);
        // Without vectors a step takes ten times as long, and has no kernels of its own.
        const some = variant === "plain" ? expected.slice(0, 1) : expected;
        assert.equal(firstDifference(thinker, some), null, `${name}, ${variant}`);
        console.log(`  ${name}, ${variant} (${thinker.info.kernels}): ${some.length} boards`);
      }
    }
  },

  async "float checkpoints are quantized to the CPU's bits, and run in float32"() {
    const choice = {weights: "mxint4,window=4", activations: "mxint4,window=4"};
    const [board] = reference(program, choice, 1, checkpoint);
    const quantized = await load(checkpoint, choice);
    assert.ok(quantized.info.native);
    assert.equal(firstDifference(quantized, [board]), null);
    const float = await load(checkpoint);
    assert.ok(!float.info.native);
    let last = null;
    for await (const step of float.solve(sample)) last = step;
    assert.ok(float.judge(float.read(sample), last.tokens));
  },

  async "kernels can be limited"() {
    const thinker = await load(file, {kernels: "scalar"});
    assert.equal(thinker.info.kernels, "scalar");
    const [board] = reference(program, formats.mxint4, 1);
    assert.equal(firstDifference(thinker, [board]), null);
    await refuses(load(file, {kernels: "avx2"}), /avx2/, 10);
    await refuses(load(file, {variant: "simd", kernels: "wasm_relaxed"}), /wasm_relaxed/, 10);
  },

  async "solves a board as the README shows"() {
    const thinker = await load(model);
    const seen = [];
    for await (const step of thinker.solve(sample)) seen.push(step);
    const last = seen[seen.length - 1];
    assert.ok(last.wantsHalt && last.haltScore > 0);
    assert.equal(last.step, seen.length);
    assert.ok(thinker.judge(thinker.read(sample), last.tokens));
    assert.equal(thinker.text(last.tokens), "346819572152637984978524163719348256584962731623175498495283617867451329231796845");
  },

  async "a second board ends the first"() {
    const thinker = await load(file);
    const first = thinker.solve(sample, {halt: false});
    await first.next();
    thinker.start(sample);
    await refuses(first.next(), /another board/);
  },

  async "types name what there is"() {
    const types = readFileSync(new URL("../../web/src/index.d.ts", import.meta.url), "utf8");
    const typed = (kind) => {
      const [, body] = new RegExp(`^export ${kind} \\{\n(.*?)^\\}`, "ms").exec(types);
      return Array.from(body.matchAll(/^  (?:readonly )?(\w+)\??[(:]/gm), ([, name]) => name).sort();
    };
    const thinker = await load(file);
    const methods = Object.getOwnPropertyNames(Model.prototype).filter((name) => name !== "constructor");
    assert.deepEqual(typed("class Model"), [...methods, ...Object.keys(thinker)].sort());
    assert.deepEqual(typed("interface ModelInfo"), Object.keys(thinker.info).sort());
    assert.deepEqual(typed("interface Task"), Object.keys(thinker.task).sort());
    assert.deepEqual(typed("interface Board"), Object.keys(thinker.read(sample)).sort());
    const {value} = await thinker.solve(sample).next();
    assert.deepEqual(typed("interface Step"), Object.keys(value).sort());
  },

  async "makes boards by their seed"() {
    const thinker = await load(file);
    const board = thinker.make(7, [3, null, null]);
    assert.deepEqual(board, thinker.make(7, [3, null, null]));
    assert.notDeepEqual(board.input, thinker.make(8, [3, null, null]).input);
    assert.deepEqual(thinker.read(thinker.text(board.input).replaceAll("_", ".")).label, board.label);
    assert.throws(() => thinker.make(7, [1]), /expected none or 3/);
  },

  async "boards that are none are refused in one line"() {
    const thinker = await load(file);
    assert.throws(() => thinker.read(`11${".".repeat(79)}`), /contradictory/);
    assert.throws(() => thinker.read(`x${".".repeat(80)}`), /x/);
    assert.throws(() => thinker.read("123"), DriftlessError);
    assert.throws(() => thinker.start([1, 2, 3]), /got 3/);
    assert.throws(() => thinker.start(new Array(81).fill(99)), DriftlessError);
  },

  async "files that are no models are refused in one line"() {
    await refuses(load(new Uint8Array()), /too short/, 12);
    await refuses(load(file.subarray(0, 1000)), /header/, 12);
    await refuses(load(file.subarray(0, file.length - 1)), /model/, 12);
    const broken = Uint8Array.from(file);
    broken[file.length - 1] ^= 1;
    await refuses(load(broken), /sha256|hash/, 12);
    await refuses(load("no-such-file"), /no-such-file/, 14);
    await refuses(load(file, {weights: "int5000", activations: "none"}), /int5000/, 10);
    // A header that promises more than any memory holds.
    const huge = Uint8Array.from(file.subarray(0, 4096));
    new DataView(huge.buffer).setBigUint64(0, 1n << 60n, true);
    await refuses(load(huge), /header/, 12);
  },

  async "memory stays small"() {
    const thinker = await load(file);
    for await (const step of thinker.solve(sample, {halt: false})) assert.ok(step.step <= 16);
    assert.ok(thinker.memoryBytes < 64 * 2 ** 20, `${thinker.memoryBytes}`);
    console.log(`  ${(thinker.memoryBytes / 2 ** 20).toFixed(1)} MB`);
  },
};

assert.ok(readFileSync(boards).length > 0);
for (const [name, test] of Object.entries(tests)) {
  const begin = Date.now();
  await test();
  console.log(`ok: ${name} (${Date.now() - begin} ms)`);
}
