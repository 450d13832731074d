// SPDX-License-Identifier: Apache-2.0
// Runs the cases that onnx_reference wrote on ONNX Runtime: runtime_test.mjs FOLDER.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const ort = createRequire(new URL("../../../build/onnxruntime/", import.meta.url))("onnxruntime-node");

/** The inputs that a graph asks for. */
function feedsOf(session, inputs) {
  const states = [inputs.boards, inputs.rows, inputs.width];
  const all = {
    tokens: () => new ort.Tensor("int32", Int32Array.from(inputs.tokens), [inputs.boards, inputs.cells]),
    puzzle: () => new ort.Tensor("int32", Int32Array.from(inputs.puzzle), [inputs.boards]),
    is_new: () => new ort.Tensor("bool", Uint8Array.from(inputs.is_new), [inputs.boards]),
    z_h: () => new ort.Tensor("float32", Float32Array.from(inputs.z_h), states),
    z_l: () => new ort.Tensor("float32", Float32Array.from(inputs.z_l), states),
  };
  return Object.fromEntries(session.inputNames.map((name) => [name, all[name]()]));
}

function largestDistance(a, b) {
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}

function distance(a, b) {
  let squares = 0;
  for (let i = 0; i < a.length; i++) squares += (a[i] - b[i]) ** 2;
  return Math.sqrt(squares);
}

function rootMeanSquare(values) {
  return distance(values, new Float32Array(values.length)) / Math.sqrt(values.length);
}

/** What is wrong with one output of a step; null where nothing is. */
function fault(name, got, test) {
  const expected = test.expected[name];
  if (got.length !== expected.length) return `${name} has ${got.length} values, expected ${expected.length}`;
  if (test.tolerance) {
    const most = test.tolerance[name];
    if (!(most < rootMeanSquare(expected) / 10)) return `${name}: a tolerance of ${most} says nothing`;
    const error = largestDistance(got, expected);
    return error <= most ? null : `${name} is ${error} away, expected at most ${most}`;
  }
  const error = distance(got, expected);
  const most = distance(test.float[name], expected);
  return error < most ? null : `${name} is ${error} away from our simulation, that is ${most} from float`;
}

function faultsOfStep(test, results) {
  return Object.keys(test.expected)
    .map((name) => fault(name, results[name].data, test))
    .filter((text) => text !== null);
}

function faultsOfSolve(test, results) {
  const faults = [];
  for (const name of ["answer", "steps"])
    if (largestDistance(results[name].data, test[name]) !== 0)
      faults.push(`${name}: got ${results[name].data}, expected ${test[name]}`);
  return faults;
}

const folder = process.argv[2];
let failed = 0;
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
for (const file of files) {
  const test = JSON.parse(readFileSync(join(folder, file), "utf8"));
  let faults;
  try {
    const session = await ort.InferenceSession.create(join(folder, `${test.name}.onnx`), { intraOpNumThreads: 1 });
    const results = await session.run(feedsOf(session, test.inputs));
    faults = test.kind === "step" ? faultsOfStep(test, results) : faultsOfSolve(test, results);
  } catch (error) {
    faults = [error.message];
  }
  for (const text of faults) console.log(`${test.name}: ${text}`);
  failed += faults.length > 0 ? 1 : 0;
}
console.log(`${files.length - failed} of ${files.length} graphs agree`);
process.exit(failed > 0 || files.length === 0 ? 1 : 0);
