// Figures that are not drawn from records of studies: training through quantizers, and benchmarks. Such a
// figure has its own `groups` (what it is drawn from, one figure each), `nameOf` a group, `origin` and `command`.

const marksOfTraining = ["before training", "after training", "paper, after training"];

/// Training runs from one checkpoint.
const qatGroups = () => [...d3.group(page.qat, (run) => run.checkpoint.sha256).values()];

/// The formats without what all such runs have in common: one scale a tensor, and where it comes from.
function formatsText({weights, acts}) {
  const bare = (text) => text.replace(/\/(tensor|static|dynamic)/g, "").replace(/,calib=[^,]+/, "");
  return bare(weights) === bare(acts) ? bare(weights) : `weights ${bare(weights)}, acts ${bare(acts)}`;
}

function qatPanels(runs) {
  const extra = (run, cells) => ({n: run.n, seed: run.seed, "training steps": run.steps, cells: {raw: cells ?? "", text: isFinite(cells) ? percentText(cells) : "-"}});
  const label = (run) => `${formatsText(run)}, ${run.method}`;
  const [before, after, paper] = marksOfTraining;
  const rows = [...d3.group(runs, label)].flatMap(([name, same]) => [
    ...same.flatMap((run) => [[before, run.before], [after, run.after]].map(([series, score]) => (
      {label: name, series, ...exactOf(score), extra: extra(run, score.cells.mean)}))),
    // One mark for all runs of a method.
    ...same.filter(({theirs}) => isFinite(theirs.after)).slice(0, 1).map(({theirs}) => (
      {label: name, series: paper, value: theirs.after, extra: {n: "-", seed: "-", "training steps": "-", cells: {raw: "", text: "-"}}})),
  ]);
  const withFloat = runs.find((run) => run.float_exact);
  const reference = withFloat ? exactOf({exact: withFloat.float_exact}) : null;
  return [{kind: "dots", title: "boards solved", x: "boards solved after the last step", percent: true, reference, rows}];
}

function qatOrigin(runs) {
  const [first] = runs;
  const withFloat = runs.find((run) => run.float_exact);
  const facts = [
    `n ${distinct(runs, (run) => run.n)} boards of ${distinct(runs, (run) => run.data)}`,
    `seed ${distinct(runs, (run) => run.seed)}`,
    `from checkpoint ${first.checkpoint.file} (sha256 ${first.checkpoint.sha256.slice(0, 12)})`,
    `coverage ${distinct(runs, (run) => run.coverage)}`,
    withFloat ? `float line: n ${withFloat.float_exact.n}` : null,
  ];
  return make("div", {class: "provenance"}, make("p", {}, facts.filter(Boolean).join(" · ")),
    make("p", {}, `Schemes: ${distinct(runs, schemeLabel)}`),
    make("p", {}, "Commands: ", ...[...new Set(runs.map((run) => run.command))].flatMap((command) => [make("code", {}, command), " "])));
}

/// The evaluations of training logs, a line each.
function trainingPanels(logs) {
  const series = [...d3.group(logs.filter(({kind}) => kind === "eval"), ({file}) => file)].map(([file, lines]) => ({
    label: file.replace(/\.jsonl$/, ""), points: lines.map((line) => ({x: line.step, y: line.exact, low: line.exact_low95, high: line.exact_high95}))}));
  return [{kind: "lines", title: "boards solved", x: "training step", percent: true, series}];
}

function evalPanels(evals) {
  const rows = evals.filter(({exact}) => exact).map((run) => ({label: `${run.model.replace(/^.*\//, "").replace(/\.safetensors$/, "")}, ${run.device} ${run.dtype}`,
    tone: run.scheme === "weights none, acts none" ? floatLabel : "contracts", ...exactOf(run), extra: {n: run.exact.n, scheme: run.scheme, halting: run.halting}}));
  return [{kind: "dots", title: "boards solved", x: "boards solved", percent: true, rows}];
}

const fileOrigin = (text) => make("div", {class: "provenance"}, make("p", {}, text));

const threadsText = (count) => `${count} thread${count === 1 ? "" : "s"}`;
const parity = {value: 1, low: 1, high: 1};

/// A panel for each number of threads: one line a `label`, one mark a `series`.
function benchPanels(rows, {label, series, value, title, x, percent, reference}) {
  return [...d3.group(rows.filter((row) => isFinite(value(row))), (row) => row.threads)].map(([threads, same]) => ({
    kind: "dots", title: `${title}, ${threadsText(threads)}`, x, percent, reference,
    rows: same.map((row) => ({label: label(row), series: series(row), value: value(row), extra: {"GFLOP/s": row.gflops}})),
  }));
}

const shareOfPeak = {value: (row) => row.share_of_int8_peak, title: "share of the int8 peak", x: "share of the int8 peak of as many threads", percent: true};
const ratioToFloat = {value: (row) => row.ratio_to_f32, title: "speed over float32", x: "times float32 on as many threads", reference: parity};

function benchOrigin([bench]) {
  const facts = [bench.processor, `native kernels ${bench.native_kernels}`, `model ${bench.model}`, `${bench.rounds} rounds`,
    bench.calm.is_calm ? "calm machine" : "the machine was busy with other work: ratios inside the run hold better than shares"];
  return make("div", {class: "provenance"}, make("p", {}, facts.join(" · ")),
    make("p", {}, "Command: ", make("code", {}, `driftless bench --model ${word(bench.model)} --threads ${bench.threads} --rounds ${bench.rounds} --json bench.json`)));
}

const ofBench = {
  section: "Speed", studies: ["bench"], groups: () => page.benches.map((bench) => [bench]), origin: benchOrigin,
  nameOf: ([bench]) => `${bench.processor}, ${bench.model}`, command: "driftless bench --json bench.json",
};

const speedFigures = [
  {id: "training", section: "Training", title: "Accuracy over training", studies: ["training"], command: "driftless train RECIPE, whose folder holds metrics.jsonl",
    groups: () => (page.logs.some(({kind}) => kind === "eval") ? [page.logs] : []), origin: (logs) => fileOrigin(`Logs: ${distinct(logs, ({file}) => file)}`),
    text: "Boards solved at each evaluation of the run, with 95 % bands.", panels: trainingPanels},
  {id: "evals", section: "Evaluations", title: "Models as evaluated", studies: ["eval"], command: "driftless eval MODEL --data DATA --json eval.json",
    groups: () => (page.evals.some(({exact}) => exact) ? [page.evals] : []), origin: (evals) => fileOrigin(`Data: ${distinct(evals, ({data}) => data)}`),
    text: "Boards solved, with 95 % intervals; quantized models in color.", panels: evalPanels},
  {id: "qat", section: "Training through quantizers", title: "Quantization-aware training", studies: ["qat"], groups: qatGroups, origin: qatOrigin,
    nameOf: ([first]) => first.checkpoint.file, command: "driftless qat recipes/qat/RECIPE --from MODEL --data DATA, and docs/report.md for the record",
    text: "Boards solved by the same plan on the same boards before training (post-training quantization) and after it, with 95 % intervals. The dashed line is the float model it started from; the paper's runs are of another model and 12,000 steps.",
    panels: qatPanels},
  {...ofBench, id: "products", title: "Matrix products", text: "Products at the shapes of the models: of what the processor's int8 vector instructions can do at most, and against oneDNN's float32. Simulated runs use bfloat16 tiles where the processor has them, and these can do more.",
    panels: ([{gemm}]) => [shareOfPeak, ratioToFloat].flatMap((measure) =>
      benchPanels(gemm, {...measure, label: (row) => row.name, series: (row) => row.kernel}))},
  {...ofBench, id: "steps", title: "Whole supervision steps", text: "The same for a supervision step of the model, and against our float32 steps.",
    panels: ([{step}]) => [shareOfPeak, ratioToFloat].flatMap((measure) =>
      benchPanels(step, {...measure, label: (row) => row.path, series: (row) => `batch ${row.batch}`}))},
  {...ofBench, id: "peaks", title: "What the processor can do", text: "Multiply-add instructions on registers alone, as a share of the int8 one.",
    panels: ([{peaks}]) => benchPanels(peaks, {...shareOfPeak, label: (row) => row.kernel, series: () => undefined})},
];
