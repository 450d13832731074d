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
  ...["exponent-rules", "low-bits", "decomposition", "granularity", "granularity-channel", "outliers", "calibration-freshness", "calibration-size",
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

export const claims = [
  {claim: "Per-tensor int4 drifts", source: "section 4", theirs: "0.0 %", study: "ladder", ours: "0.4 %", verdict: "holds", reason: "The curve rises."},
  {claim: "Noise does not help", source: "section 6", theirs: "0.0 %", study: "rollouts", ours: null, verdict: null, reason: "Not run."},
];
