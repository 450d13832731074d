// Which study makes which figure. A row of the table has an id, a title, what it shows, the studies that it
// can be drawn from (of each checkpoint the first with records, or `every` one) and a function from records
// to panels; panels without marks mean that these records lack what the figure needs.

function stepPanel(records, {metric, title, percent = false, log = false}) {
  const label = labeler(records);
  const series = records.filter((r) => r.steps[metric] && !(log && r.execution === floatLabel)).map((r) => {
    const {mean, low, high} = r.steps[metric];
    return {label: label(r), points: mean.map((y, i) => ({x: i + 1, y, low: low[i], high: high[i]}))};
  });
  return {kind: "lines", title, x: "step", percent, log, series};
}

/// One series a record of plain values by step.
function plainPanel(records, title, values) {
  const label = labeler(records);
  const series = records.filter(values).map((r) =>
    ({label: label(r), points: values(r).map((y, i) => ({x: i + 1, y}))}));
  return {kind: "lines", title, x: "step", series};
}

const exactOf = (r) => ({value: r.exact.share, low: r.exact.low, high: r.exact.high});
const cellsOf = (r) => ({value: r.cells.mean, low: r.cells.low, high: r.cells.high});

/// What the table says of a row beside its dot.
function extraOf(r) {
  const percent = (raw) => ({raw, text: percentText(raw)});
  const isFloat = r.execution === floatLabel;
  return {
    "bits of weights": r.bits.weights,
    "bits of acts": r.bits.acts,
    "cells": percent(r.cells.mean),
    "exact less float": percent(r.paired.difference),
    "p": r.paired.p_value,
    "verdict": isFloat ? "the reference" : r.verdict?.latent ?? "not measured",
    "time / float": isFloat || r.timing.ratio === null ? {raw: "", text: "-"} : r.timing.ratio,
  };
}

/// The label without what tells repeated calibrations apart: those share a line.
function dotPanel(records, {title = "boards solved", value = exactOf, sorted = false} = {}) {
  const label = labeler(records, ["calibration seed"]);
  const ordered = sorted ? records.slice().sort((a, b) => b.exact.share - a.exact.share) : records;
  const reference = {value: records[0].float_exact.share, low: records[0].float_exact.low, high: records[0].float_exact.high};
  const rows = ordered.map((r) => ({label: label(r), tone: r.execution === floatLabel ? floatLabel : r.verdict?.latent, ...value(r), extra: extraOf(r)}));
  const hasReference = value === exactOf && new Set(records.map((r) => r.float_exact.share)).size === 1;
  return {kind: "dots", title, x: "boards solved after the last step", percent: true, hasTones: true, reference: hasReference ? reference : null, rows};
}

/// Accuracy against a number of the configuration, a series for each scheme.
function curvePanels(records, {x, name, without, logX = false, connect = true}) {
  const label = labeler(records, without);
  const panel = (title, value) => {
    const bySeries = d3.group(records, label);
    const series = [...bySeries].map(([key, rows]) => ({
      label: key,
      points: rows.map((r) => ({x: x(r), y: value(r).value, low: value(r).low, high: value(r).high})).sort((a, b) => a.x - b.x),
    }));
    return {kind: "lines", title, x: name, percent: true, logX, connect, series};
  };
  return [panel("boards solved", exactOf), panel("cells right", cellsOf)];
}

function heatPanels(records, key, diverging) {
  const withLayers = records.filter((r) => r.layers);
  const label = labeler(records);
  const panels = withLayers.map((r) => ({
    kind: "heat", title: label(r), x: "network call of the supervision step", diverging,
    rows: r.layers.map((layer) => layer.layer),
    columns: d3.range(d3.max(r.layers, (layer) => d3.max(layer.call)) + 1),
    values: r.layers.map((layer) => {
      const byCall = new Map(layer.call.map((call, i) => [call, layer[key][i]]));
      return d3.range(d3.max(r.layers, (l) => d3.max(l.call)) + 1).map((call) => byCall.get(call) ?? NaN);
    }),
  }));
  if (panels.length > 0) {
    const scale = heatScale(panels);
    for (const panel of panels) panel.scale = scale;
  }
  return panels;
}

function rolloutPanels(records) {
  const noisy = records.filter((r) => r.rollouts && r.config.rollouts);
  return ["select", "settled", "average", "majority", "any"].map((answer) => ({
    ...curvePanels(noisy, {
      x: (r) => r.config.rollouts.count, name: "trajectories a board", without: ["rollouts"], logX: true,
    })[0],
    title: `answer by ${answer}`,
    series: [...d3.group(noisy, labeler(noisy, ["rollouts"]))].map(([label, rows]) => ({
      label,
      points: rows.map((r) => ({x: r.config.rollouts.count, y: r.rollouts[answer].exact.share,
        low: r.rollouts[answer].exact.low, high: r.rollouts[answer].exact.high})).sort((a, b) => a.x - b.x),
    })),
  }));
}

function dynamicsPanels(records) {
  const measured = records.filter((r) => r.dynamics);
  const label = labeler(records);
  const panel = (key, title, log) => ({
    kind: "lines", title, x: "step", log,
    series: measured.map((r) => {
      const {mean, low, high} = r.dynamics.steps[key];
      return {label: label(r), points: mean.map((y, i) => ({x: i + 1, y, low: low[i], high: high[i]}))};
    }),
  });
  return [panel("epsilon", "error that one step adds (epsilon)", true), panel("L", "stretch of a small perturbation (L)", false),
    panel("L_path", "stretch of the displacement itself", false), panel("delta", "variation of the error (delta)", false)];
}

function displacementPanels(records) {
  const label = labeler(records);
  const rows = records.filter((r) => r.dynamics?.predicted && r.dynamics?.observed).flatMap((r) =>
    ["observed", "predicted"].map((kind) => ({label: `${label(r)}, ${kind}`, tone: r.verdict?.latent, value: r.dynamics[kind].mean,
      low: r.dynamics[kind].low, high: r.dynamics[kind].high, extra: {boards: r.dynamics[kind].n}})));
  return [{kind: "dots", title: "displacement", x: "distance from the float state after the last step", log: true, rows}];
}

const stepStudies = ["contraction", "atlas", "ladder", "format-ladder"];
const dots = (records) => [dotPanel(records)];

const figures = [
  {id: "ladder", section: "Number formats", title: "The format ladder", studies: ["format-ladder", "ladder"], every: true,
    text: "What each number format leaves of the model: boards solved after the last step, with 95 % intervals. The dashed line is the float model.",
    panels: (records) => [dotPanel(records, {sorted: true})]},
  {id: "exponent-rules", section: "Number formats", title: "The rule for the shared exponent", studies: ["exponent-rules"],
    text: "Block formats differ in how a block picks its power of two. Everything else is the same.", panels: dots},
  {id: "low-bits", section: "Number formats", title: "Below four bits", studies: ["low-bits"],
    text: "Fewer bits, and different widths for weights and activations.", panels: dots},

  {id: "contraction", section: "The trajectory", title: "Contraction versus drift", studies: stepStudies,
    text: "Distance from the float model's trajectory after each step, mean over boards with 95 % bands. A curve that falls contracts; one that rises drifts.",
    panels: (records) => [
      stepPanel(records, {metric: "latent_divergence", title: "latent divergence |z_L − z_L of float|", log: true}),
      stepPanel(records, {metric: "logit_divergence", title: "divergence of the answer logits", log: true})]},
  {id: "accuracy", section: "The trajectory", title: "Accuracy per step", studies: ["atlas", ...stepStudies],
    text: "What the model would score if it stopped after each step.",
    panels: (records) => [
      stepPanel(records, {metric: "exact", title: "boards solved", percent: true}),
      stepPanel(records, {metric: "cells", title: "cells right", percent: true})]},
  {id: "residual", section: "The trajectory", title: "Does it settle?", studies: stepStudies,
    text: "Distance between successive states, and the cosine of the states with the float model's (a predictor that needs no labels).",
    panels: (records) => [
      stepPanel(records, {metric: "residual", title: "residual |s_t − s_(t−1)|"}),
      stepPanel(records, {metric: "fidelity", title: "fidelity to the float path"})]},
  {id: "direction", section: "The trajectory", title: "Does a board's displacement keep its direction?", studies: [...stepStudies, "bias-coherence"],
    text: "Cosine of the distance vector from the float trajectory with that of the step before, mean over boards. An error that comes anew at every step starts near zero; one that is pushed the same way again starts high.",
    panels: (records) => [stepPanel(records.filter((r) => r.execution !== floatLabel), {metric: "step_cosine", title: "cosine with the step before"})]},
  {id: "coherence", section: "The trajectory", title: "Does the error keep its direction?", studies: ["bias-coherence", "contraction", "fixed-point"],
    text: "Norm of the mean displacement over the mean of the norms (1: all boards are pushed the same way), and the cosine of the mean displacement with the step before.",
    panels: (records) => [
      plainPanel(records, "across boards", (r) => r.coherence?.across_boards),
      plainPanel(records, "cosine with the step before", (r) => r.coherence?.direction_cosine)]},
  {id: "fixed-point", section: "The trajectory", title: "The fixed-point model, measured", studies: ["fixed-point"],
    text: "What the perturbed contraction speaks of, from finite perturbations along the trajectory.", panels: dynamicsPanels},
  {id: "displacement", section: "The trajectory", title: "Predicted and observed displacement", studies: ["fixed-point"],
    text: "epsilon / (1 − L) beside the distance that was measured, on the boards where L is below 1.", panels: displacementPanels},

  {id: "decomposition", section: "Where the error comes from", title: "Weights or activations?", studies: ["decomposition"],
    text: "Each side alone, and both.", panels: dots},
  {id: "layer-error", section: "Where the error comes from", title: "Error of each layer's input", studies: ["layer-error", "bias-coherence"],
    text: "Relative error |q − x| / |x| by network call of the supervision step; brighter is worse.",
    panels: (records) => heatPanels(records, "relative", false)},
  {id: "layer-bias", section: "Where the error comes from", title: "Signed error of each layer's input", studies: ["layer-error", "bias-coherence"],
    text: "mean(q − x) / rms(x): how far an error keeps its sign; white is none.",
    panels: (records) => heatPanels(records, "signed_mean", true)},
  {id: "granularity", section: "Where the error comes from", title: "The granularity ladder", studies: ["granularity"],
    text: "How local a scale has to be: activations from one scale a tensor to one per 16 values.", panels: dots},
  {id: "granularity-channel", section: "Where the error comes from", title: "The granularity ladder, weights per channel", studies: ["granularity-channel"],
    text: "The same with a weight scale for each output channel.", panels: dots},

  {id: "outliers", section: "Controls", title: "Outlier controls", studies: ["outliers"], text: "SmoothQuant over its strengths, and a Hadamard rotation.", panels: dots},
  {id: "calibration-freshness", section: "Controls", title: "Frozen or fresh scales", studies: ["calibration-freshness"], text: "Calibrated scales against scales taken anew in every call.", panels: dots},
  {id: "calibration-size", section: "Controls", title: "More calibration boards", studies: ["calibration-size"], text: "Ten times the boards.", panels: dots},
  {id: "scale-sharing", section: "Controls", title: "Scales per role and per call", studies: ["scale-sharing"], text: "One static scale for all calls, for each role, for each call.", panels: dots},
  {id: "channel-weights", section: "Controls", title: "Weights alone", studies: ["channel-weights"], text: "Four-bit weights, float activations.", panels: dots},
  {id: "rollouts", section: "Controls", title: "Noisy rollouts", studies: ["rollouts"],
    text: "Several noisy trajectories a board, and ways to make one answer of them. A zero-mean error would average away.", panels: rolloutPanels},

  {id: "dose-response", section: "Depth and breadth", title: "Dose-response to reuse", studies: ["dose-response"],
    text: "More inner cycles use the quantized block more often.",
    panels: (records) => curvePanels(records, {x: (r) => r.config.l_cycles, name: "inner cycles", without: ["L cycles"]})},
  {id: "eqr-depth", section: "Depth and breadth", title: "An equilibrium reasoner at depth", studies: ["eqr-depth"],
    text: "Steps beyond those of its training: boards solved, and how far a step still moves the state.",
    panels: (records) => [
      stepPanel(records, {metric: "exact", title: "boards solved", percent: true}),
      stepPanel(records, {metric: "residual", title: "residual |s_t − s_(t−1)|"})]},
  {id: "eqr-breadth", section: "Depth and breadth", title: "Restarts of an equilibrium reasoner", studies: ["eqr-breadth"],
    text: "Several trajectories a board from random initial states, and ways to make one answer of them.", panels: rolloutPanels},
  {id: "depth-precision", section: "Depth and breadth", title: "Depth against precision", studies: ["depth-precision"],
    text: "Accuracy per multiply-add when there are fewer cycles or steps.",
    panels: (records) => curvePanels(records, {x: (r) => r.multiply_adds, name: "multiply-adds a board",
      without: ["H cycles", "L cycles", "steps"], logX: true, connect: false})},
];

/// Studies of the records that no figure names get a plain one.
function otherFigures() {
  const named = new Set(figures.flatMap((figure) => figure.studies));
  const others = [...new Set(page.records.map((record) => record.study))].filter((study) => !named.has(study));
  return others.map((study) => ({id: `study-${study.replace(/[^a-z0-9]+/gi, "-")}`, section: "Other studies", title: study, studies: [study],
    text: "Boards solved after the last step.", panels: dots}));
}
