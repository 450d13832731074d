// SPDX-License-Identifier: Apache-2.0
// Results made up for the tests: numbers are simple functions of row and step, so that a test knows them.

export const hostile = `</script><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

const share = (hits, n) => ({share: hits / n, hits, n, low: Math.max(0, hits / n - 0.05), high: Math.min(1, hits / n + 0.05)});
const mean = (value, n) => ({mean: value, n, low: value - 0.0123456, high: value + 0.0123456});
const steps = 4;
const series = (value) => {
  const values = [...Array(steps).keys()].map(value);
  return {mean: values, low: values.map((v) => v * 0.9), high: values.map((v) => v * 1.1)};
};
const metrics = ["latent_divergence", "answer_divergence", "logit_divergence", "state_norm", "exact", "float_exact", "cells",
  "float_cells", "lost", "gained", "residual", "float_residual", "fidelity", "step_cosine", "halt_flip"];

/// A record that passes the program's schema; `change` replaces top-level keys, `config` keys of its configuration.
export function record({study = "ladder", row = 0, weights = "none", acts = weights, config = {}, change = {}}) {
  const n = 64;
  const isFloat = weights === "none" && acts === "none";
  return {
    schema: 1, study, row, scheme: `${weights}:${acts}`, version: "0.0.0",
    checkpoint: {file: "tiny.safetensors", sha256: "0123456789abcdef"}, data: {file: "boards.csv", sha256: "aa"},
    config: {weights, acts, coverage: "block", bias: "float", scales: "all", smooth: null, hadamard: false, h_cycles: 3, l_cycles: 6,
      steps, calibration: null, rollouts: null, layer_boards: 0, coherence: false, dynamics: false, seed: 7, batch: 32, backend: "cpu", ...config},
    n, execution: isFloat ? "float" : "simulated", bits: {weights: isFloat ? 32 : 4.25, acts: isFloat ? 32 : 4.25}, multiply_adds: 1000 * (row + 1),
    exact: share(55 - 3 * row, n), float_exact: share(55, n), cells: mean(0.9 - row / 100, n), float_cells: mean(0.9, n),
    paired: {lost: 3 * row, gained: 0, difference: (-3 * row) / n, low: -0.2, high: 0.1, p_value: 0.0312345678},
    verdict: {latent: "contracts", growth: 0.5, level: 0.1}, fidelity: mean(0.97, n), halt_step_differs: share(3, n),
    steps: Object.fromEntries(metrics.map((metric, m) => [metric, series((step) => (row + 1) * (m + 1) / (step + 3))])),
    coherence: null, layers: null, dynamics: null, rollouts: null,
    timing: {wall_s: 1, float_wall_s: 1, ratio: 1.23456}, ...change,
  };
}

const layers = ["L_level.0.mlp.gate_up", "L_level.0.mlp.down", "lm_head"].map((layer, i) => ({
  layer, call: [0, 1, 2, 3, 4], relative: [0, 1, 2, 3, 4].map((call) => 0.01 * (i + 1) * (call + 1)), signed_mean: [0, 1, 2, 3, 4].map((call) => 0.001 * (call - 2)),
}));
const dynamics = {
  steps: Object.fromEntries(["epsilon", "delta", "L", "L_path"].map((name, i) => [name, series((step) => (i + 1) / (step + 1))])),
  ...Object.fromEntries(["modulus", "is_contractive", "mean_epsilon", "mean_error", "bias_share", "predicted", "observed"].map((name) => [name, mean(0.5, 64)])),
};
const rollouts = {
  ...Object.fromEntries(["average", "select", "settled", "majority", "any", "single"].map((name) =>
    [name, {exact: share(30, 64), cells: mean(0.8, 64), exact_by_step: [0.1, 0.2, 0.3, 0.4]}])),
  latent_divergence: mean(3, 64),
};
const rows = (study, schemes, rest = () => ({})) => schemes.map(([weights, acts], row) => record({study, row, weights, acts, ...rest(row)}));

export const schemes = ["none", "mxint8", "mxint4", "int4/group32", "fp4_e2m1", "mxfp4", "nvfp4", "mxint3"];
const four = [["mxint8"], ["mxint4"], ["int4/tensor", "int4/tensor/static"], ["int4/tensor", "none"]];

/// Records for every figure.
export const records = [
  ...rows("ladder", schemes.map((scheme) => [scheme])),
  ...rows("contraction", four, () => ({change: {coherence: {across_boards: [0.1, 0.2, 0.3, 0.4], direction_cosine: [1, 0.9, 0.8, 0.7]}}})),
  ...rows("outliers", four, () => ({config: {backend: "cuda bf16", calibration: {boards: 32, seed: 1}}})),
  ...["exponent-rules", "low-bits", "decomposition", "granularity", "granularity-channel", "calibration-freshness", "calibration-size",
    "scale-sharing", "channel-weights", "a study of my own"].flatMap((study) => rows(study, four)),
  ...rows("layer-error", four, () => ({change: {layers}})),
  ...rows("fixed-point", four, () => ({change: {dynamics}})),
  ...rows("eqr-depth", four),
  ...["rollouts", "eqr-breadth"].flatMap((study) => rows(study, [["none"], ["none"], ["mxint4"], ["mxint4"]],
    (row) => ({config: {rollouts: {count: row % 2 ? 16 : 4, noise: 0.05, seed: 1}}, change: {rollouts, steps: {}, verdict: null, fidelity: null, halt_step_differs: null}}))),
  ...rows("dose-response", [["none"], ["none"], ["mxint4"], ["mxint4"]], (row) => ({config: {l_cycles: row % 2 ? 6 : 2}})),
  ...rows("depth-precision", [["none"], ["none"], ["mxint4"], ["mxint4"]], (row) => ({config: {steps, h_cycles: row % 2 ? 3 : 1}})),
];

/// A Sudoku of nine equal rows is no Sudoku, but the page does not mind.
const label = "123456789".repeat(9);
const input = [...label].map((c, i) => (i % 3 === 0 ? c : ".")).join("");
/// Scheme s gets 2 * s cells right more or less at each step; scheme 0 solves the board at step 3.
function run(scheme) {
  const answer = (step) => [...label].map((c, i) => (i < 12 - 6 * step + 4 * scheme ? "1" : c)).join("");
  const answers = [...Array(steps).keys()].map(answer);
  const wrong = answers.map((text) => [...text].filter((c, i) => c !== label[i]).length);
  return {
    answers: answers.map((text, i) => (i > 0 && text === answers[i - 1] ? "" : text)),
    confidence: answers.map((text) => [...text].map((_, i) => "0az"[i % 3]).join("")),
    outcome: wrong.map((count) => (count === 0 ? "e" : "w")).join(""),
    divergence: answers.map((_, i) => scheme * (i + 1) * 1.5), halt: answers.map((_, i) => i - 1.5), wrong,
  };
}
const traced = ["none", "mxint4", "int4/tensor", "fp4_e2m1", "nvfp4"];
export const runs = traced.map((_, scheme) => run(scheme));
export const trace = {
  trace: 1, version: "0.0.0", checkpoint: {file: "tiny.safetensors", sha256: "0123456789abcdef"}, data: {file: "boards.csv", sha256: "aa"},
  task: "sudoku", alphabet: "?.123456789", seed: 7, steps, n: 3,
  schemes: traced.map((scheme) => record({weights: scheme}).config),
  boards: [0, 1, 2].map((number) => ({number, input, label, runs})),
  basin: {share: [0.5, 0.25], runs: traced.map((_, scheme) => [0, 1, 2].map((board) => ({
    x: [4, 3, 2, 1].map((x) => x * scheme + board), y: [0, 1, 2, 3].map((y) => y * scheme), residual: [4, 3, 2, 1]})))},
};

/// Training runs: two seeds of one method, and a method that the paper has too.
const score = (hits) => ({exact: share(hits, 64), cells: {mean: 0.6 + hits / 640, n: 64, low: null, high: null}});
export const qat = [["naive", "int4/tensor", 1, 0.718], ["naive", "mxint3", 1, null], ["naive", "mxint3", 2, null]].map(([method, weights, seed, theirs], i) => ({
  qat: 1, method, weights, acts: weights === "mxint3" ? weights : `${weights}/static,calib=mse`, coverage: "linear",
  checkpoint: {file: "tiny.safetensors", sha256: "0123456789abcdef"}, data: "boards.csv", seed, steps: 1000 + i, n: 64,
  before: score(8 * i), after: score(40 + i), float_exact: share(55, 64), theirs: {before: null, after: theirs}, command: `driftless qat run-${i}`,
}));

/// A benchmark of two products and two paths on one and two threads.
const threads = [1, 2];
const speed = (i) => ({gflops: 100 * (i + 1), share_of_int8_peak: 0.2 * (i + 1), ratio_to_f32: i === 3 ? null : 1.5 * (i + 1)});
export const bench = {
  model: "models/tiny.safetensors", processor: "A processor", compiler: "c++", native_kernels: "avx512", threads: 2, rounds: 3,
  peaks: threads.flatMap((count) => ["dot int8", "f32"].map((kernel, i) => ({kernel, threads: count, gflops: 700 / (i + 1), share_of_int8_peak: 1 / (i + 1)}))),
  gemm: threads.flatMap((count) => ["D256 down", "D256 gate_up"].flatMap((name) => ["f32 oneDNN", "native mxint4"].map((kernel, i) => ({kernel, name, shape: [1, 2, 3], threads: count, ...speed(i)})))),
  step: threads.flatMap((count) => ["f32", "mxint4 native"].flatMap((path, p) => [1, 8].map((batch) => ({path, d: 256, batch, threads: count, ...speed(p)})))),
  calm: {is_calm: false},
};

const arcLabel = "?".repeat(900).split("");
const arcInput = arcLabel.slice();
for (let row = 0; row < 6; ++row) for (let column = 0; column < 8; ++column) {
  arcInput[30 * row + column] = String((row + column) % 10);
  arcLabel[30 * row + column] = String((row * column) % 10);
}
/// An ARC grid of 6 x 8 cells on its 30 x 30 canvas; the first scheme has it right from step 2 on, the second never.
export const arcTrace = {
  trace: 1, version: "0.0.0", checkpoint: {file: "arc.safetensors", sha256: "0123456789abcdef"}, data: {file: "tasks.json", sha256: "aa"},
  task: "arc", alphabet: "?|0123456789", seed: 7, steps, n: 1, schemes: ["none", "int4/tensor"].map((scheme) => record({weights: scheme}).config),
  boards: [{number: 0, input: arcInput.join(""), label: arcLabel.join(""), runs: [0, 1].map((scheme) => {
    const wrong = arcLabel.slice();
    for (let i = 0; i < 5; ++i) wrong[i] = "9";
    const answers = [...Array(steps).keys()].map((step) => (scheme === 0 && step > 0 ? arcLabel : wrong).join(""));
    return {answers: answers.map((text, i) => (i > 0 && text === answers[i - 1] ? "" : text)), confidence: answers.map((text) => "z".repeat(text.length)),
      outcome: answers.map((text) => (text === arcLabel.join("") ? "e" : "w")).join(""), divergence: answers.map((_, i) => scheme * (i + 1)), halt: answers.map(() => 1)};
  })}],
  basin: {share: [0.5, 0.25], runs: [0, 1].map((scheme) => [{x: [4, 3, 2, 1], y: [0, 1, 2, scheme], residual: [4, 3, 2, 1]}])},
};

export const claims = [
  {claim: "Per-tensor int4 drifts", source: "section 4", theirs: "0.0 %", study: "ladder", ours: "0.4 %", verdict: "holds", reason: "The curve rises."},
  {claim: "Noise does not help", source: "section 6", theirs: "0.0 %", study: "rollouts", ours: null, verdict: null, reason: "Not run."},
];
