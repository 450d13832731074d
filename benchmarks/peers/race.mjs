// SPDX-License-Identifier: Apache-2.0
// Supervision steps of one model on ONNX Runtime and on our engine, in turn in one run: answers are compared first,
// then ratios are medians over the rounds.
//
//   race.mjs BIN MODEL BATCH THREADS ROUNDS JSON
//
// BIN is the folder of a build, JSON the file that gets the rows. Called by benchmarks/peers/race.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

const ort = createRequire(new URL("../../build/onnxruntime/", import.meta.url))("onnxruntime-node");

const [bin, model, batchText, threadsText, roundsText, jsonFile] = process.argv.slice(2);
const batch = Number(batchText);
const threads = Number(threadsText);
const rounds = Number(roundsText);
const kPrecisions = ["float32", "int8", "int4"];
const kOurs = { "float32": "f32", "native int8": "native int8", "native mxint4": "native mxint4" };
/** Each of ours over each of theirs that a goal or a reader asks for, and the goal on one and on two threads. */
const kPairs = [
  { ours: "float32", theirs: "ORT float32", goals: [1.2, 1.2] },
  { ours: "native int8", theirs: "ORT int8", goals: [1.4, 1.7] },
  { ours: "native int8", theirs: "ORT float32", goals: [3.2, 3.2] },
  { ours: "native mxint4", theirs: "ORT int8", goals: [1.6, 2.0] },
  { ours: "native mxint4", theirs: "ORT int4" },
  { ours: "native mxint4", theirs: "ORT float32" },
];
/** Those that are compared are neighbors: the machine's speed may change within seconds. */
const kOrder = ["ORT float32", "float32", "ORT int8", "native int8", "native mxint4", "ORT int4"];
const kTurnSeconds = 0.05; // of timed steps in a turn, at least one
const kPauseMs = 20; // between turns: threads of the one before stop looking for work

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function distance(a, b) {
  return Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0));
}

/** The best token of each cell. */
function answerOf(logits, cells) {
  const vocabulary = logits.length / cells;
  return Array.from({ length: cells }, (_, cell) => {
    const row = logits.slice(cell * vocabulary, (cell + 1) * vocabulary);
    return row.indexOf(Math.max(...row));
  });
}

function require(condition, message) {
  if (!condition) throw new Error(message);
}

/** Our engine in a process of its own. */
class Server {
  constructor() {
    this.child = spawn(join(bin, "benchmarks/step_server"), [model, "models/demo-sudoku.csv"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, LD_PRELOAD: "" },
    });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  async read() {
    const line = await this.lines.next();
    require(!line.done, "step_server ended");
    return JSON.parse(line.value);
  }

  async time(path, steps, shape = [batch, threads]) {
    this.child.stdin.write(`${shape.join(" ")} ${steps} ${path}\n`);
    return this.read();
  }

  close() {
    this.child.stdin.end();
  }
}

/** A graph of ours on ONNX Runtime. */
class Peer {
  static async make(file, facts, boards) {
    const peer = new Peer();
    peer.session = await ort.InferenceSession.create(file, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: "sequential",
      graphOptimizationLevel: "all",
    });
    const size = [boards, facts.rows, facts.width];
    const zeros = () => new ort.Tensor("float32", new Float32Array(boards * facts.rows * facts.width), size);
    const tokens = Array.from({ length: boards }, (_, i) => facts.boards[i % facts.boards.length]).flat();
    peer.feeds = {
      tokens: new ort.Tensor("int32", Int32Array.from(tokens), [boards, facts.cells]),
      z_h: zeros(),
      z_l: zeros(),
      is_new: new ort.Tensor("bool", new Uint8Array(boards).fill(1), [boards]),
    };
    peer.going = new ort.Tensor("bool", new Uint8Array(boards), [boards]);
    return peer;
  }

  async step() {
    const results = await this.session.run(this.feeds);
    Object.assign(this.feeds, { z_h: results.z_h_next, z_l: results.z_l_next, is_new: this.going });
    return results;
  }

  async time(steps) {
    const seconds = [];
    for (let i = 0; i < steps; i++) {
      const start = process.hrtime.bigint();
      await this.step();
      seconds.push(Number(process.hrtime.bigint() - start) / 1e9);
    }
    return seconds;
  }
}

/** Every contender's logits are those that it should have, on the first board after a step. */
async function requireAnswers(facts, files) {
  const floats = facts.logits.f32;
  for (const [path, simulated] of Object.entries(facts.simulated))
    require(distance(facts.logits[path], simulated) < distance(simulated, floats),
      `${path} gave other logits than its simulation`);
  const away = {};
  for (const precision of kPrecisions) {
    const peer = await Peer.make(files[precision], facts, 1);
    const logits = Array.from((await peer.step()).logits.data);
    if (precision === "float32")
      require(answerOf(logits, facts.cells).join() === answerOf(floats, facts.cells).join(),
        "ORT float32 answered other cells than our float32");
    else
      require(distance(logits, facts.peers[precision]) < distance(facts.peers[precision], floats),
        `ORT ${precision} gave other logits than our simulation of its quantizers`);
    away[`ORT ${precision}`] = distance(logits, floats) / distance(floats, floats.map(() => 0));
    await peer.session.release();
  }
  for (const [name, path] of Object.entries(kOurs))
    away[name] = distance(facts.logits[path], floats) / distance(floats, floats.map(() => 0));
  return away;
}

async function runRounds(contenders) {
  const seconds = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  const steps = {};
  for (const [name, time] of Object.entries(contenders)) {
    const [first, second] = await time(2);
    steps[name] = Math.max(1, Math.round(kTurnSeconds / Math.min(first, second)));
  }
  for (let round = 0; round < rounds; round++)
    for (const [name, time] of Object.entries(contenders)) {
      await pause(kPauseMs);
      if (steps[name] > 1) await time(1); // the caches hold what another left
      seconds[name].push(median(await time(steps[name])));
    }
  return seconds;
}

function rowsOf(seconds) {
  return kPairs.map(({ ours, theirs, goals }) => {
    const ratios = seconds[theirs].map((value, round) => value / seconds[ours][round]);
    const bests = Math.min(...seconds[theirs]) / Math.min(...seconds[ours]);
    const goal = goals?.[threads - 1] ?? null;
    return { ours, theirs, ratio: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios), bests, goal };
  });
}

function print(entry) {
  console.log(`\n${entry.model}, D ${entry.width}, batch ${batch}, ${threads} thread${threads > 1 ? "s" : ""}; ` +
    `${entry.processor}, kernels ${entry.kernels}, ONNX Runtime ${entry.onnxruntime}${entry.without_amx ? " without AMX" : ""}, ` +
    `${rounds} rounds`);
  for (const [name, value] of Object.entries(entry.step_ms))
    console.log(`  ${name.padEnd(14)} ${value.toFixed(2)} ms a step, best ${entry.best_step_ms[name].toFixed(2)}`);
  for (const { ours, theirs, ratio, least, most, bests, goal } of entry.ratios)
    console.log(`  ${ours.padEnd(13)} over ${theirs.padEnd(12)} ${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)}; bests ${bests.toFixed(2)})` +
      (goal === null ? "" : `, goal ${goal.toFixed(1)}: ${ratio >= goal ? "reached" : "missed"}`));
}

const work = mkdtempSync(join(tmpdir(), "peers-"));
const server = new Server();
try {
  const files = {};
  for (const precision of kPrecisions) {
    files[precision] = join(work, `${precision}.onnx`);
    execFileSync(join(bin, "bin/driftless"), ["export", "onnx", model, files[precision], "--precision", precision]);
  }
  const facts = await server.read();
  const away = await requireAnswers(facts, files);
  const turns = {};
  for (const precision of kPrecisions) {
    const peer = await Peer.make(files[precision], facts, batch);
    turns[`ORT ${precision}`] = (steps) => peer.time(steps);
  }
  for (const [name, path] of Object.entries(kOurs)) turns[name] = (steps) => server.time(path, steps);
  const contenders = Object.fromEntries(kOrder.map((name) => [name, turns[name]]));
  const seconds = await runRounds(contenders);
  const entry = {
    model: basename(model, ".safetensors"), width: facts.width, batch, threads, rounds,
    processor: facts.processor, compiler: facts.compiler, kernels: facts.kernels,
    onnxruntime: ort.env.versions.node ?? ort.env.versions.common,
    without_amx: process.env.DRIFTLESS_PEERS_AMX === "0",
    best_step_ms: Object.fromEntries(Object.entries(seconds).map(([name, list]) => [name, 1e3 * Math.min(...list)])),
    step_ms: Object.fromEntries(Object.entries(seconds).map(([name, list]) => [name, 1e3 * median(list)])),
    logits_away_from_float: away,
    ratios: rowsOf(seconds),
  };
  print(entry);
  if (jsonFile) {
    const entries = existsSync(jsonFile) ? JSON.parse(readFileSync(jsonFile, "utf8")) : [];
    writeFileSync(jsonFile, `${JSON.stringify([...entries, entry], null, 1)}\n`);
  }
} finally {
  server.close();
  rmSync(work, { recursive: true });
}
process.exit(0);
