// What the page is made of: its data, and records as labels, groups and provenance.
const page = JSON.parse(document.getElementById("data").textContent);

/// An element with attributes and children; texts become text, never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const isFinite = Number.isFinite;
const floatLabel = "float";

/// Whether one word names both sides. One scale a tensor is what weights have unless they say otherwise, and a
/// static or dynamic source is a word of activations only: int4 and int4/tensor/static.
function isSameFormat(weights, acts) {
  const bare = (text) => text.replace(/\/(static|dynamic)/, "").replace(/\/tensor/, "");
  return acts === weights || bare(acts) === bare(weights);
}

/// "mxint4", "float", or both sides where they differ.
function schemeLabel(config) {
  const side = (text) => (text === "none" ? floatLabel : text);
  const {weights, acts} = config;
  if (acts === weights) return side(acts);
  if (isSameFormat(weights, acts)) return acts;
  return `weights ${side(weights)}, acts ${side(acts)}`;
}

/// What else of a configuration tells rows of one group apart.
const variations = [
  ["coverage", (c) => c.coverage],
  ["bias", (c) => c.bias],
  ["scales per", (c) => c.scales],
  ["smooth", (c) => c.smooth],
  ["hadamard", (c) => c.hadamard],
  ["delta", (c) => Boolean(c.delta)],
  ["H cycles", (c) => c.h_cycles],
  ["L cycles", (c) => c.l_cycles],
  ["steps", (c) => c.steps],
  ["calibration boards", (c) => c.calibration?.boards],
  ["calibration seed", (c) => c.calibration?.seed],
  ["rollouts", (c) => c.rollouts?.count],
  ["noise", (c) => c.rollouts?.noise],
];

/// A function from a record to its label within these records: the scheme, and the values that
/// differ between records of one scheme. `without` names variations that a figure shows otherwise.
function labeler(records, without = []) {
  const byScheme = d3.group(records, (record) => schemeLabel(record.config));
  return (record) => {
    const scheme = schemeLabel(record.config);
    const extras = variations
      .filter(([name]) => !without.includes(name))
      .filter(([, value]) => new Set(byScheme.get(scheme).map((r) => value(r.config))).size > 1)
      .map(([name, value]) => [name, value(record.config)])
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) => (value === true ? name : `${name} ${value}`));
    return [scheme, ...extras].join(", ");
  };
}

/// d3.group of later versions: a map from key to the items with it, in their order.
d3.group ??= (items, key) => {
  const groups = new Map();
  for (const item of items) {
    if (!groups.has(key(item))) groups.set(key(item), []);
    groups.get(key(item)).push(item);
  }
  return groups;
};

/// Records that may share a figure: of one study, checkpoint, data set, number of boards, seed, backend and version.
function groupsOf(study) {
  const records = page.records.filter((record) => record.study === study);
  const key = (r) => JSON.stringify([r.checkpoint, r.data, r.n, r.config.seed, r.config.backend, r.version]);
  return [...d3.group(records, key).values()].map((group) => group.slice().sort((a, b) => a.row - b.row));
}

/// Rows below the last one that have no record.
function missingRows(records) {
  const rows = new Set(records.map((record) => record.row));
  return d3.range(d3.max([...rows])).filter((row) => !rows.has(row));
}

/// A word as a shell takes it.
const word = (text) => (/^[\w./:,=+@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/// A scheme as ladder and trace take it.
const schemeOf = ({weights, acts}) => (isSameFormat(weights, acts) ? acts : `${weights}:${acts}`);

/// The boards at a time that the program takes on a device unless told otherwise.
const usualBatch = (device) => (device === "cuda" ? 640 : 32);

/// A backend as flags: "native", "cuda bf16".
function deviceFlags(backend) {
  const [device, dtype] = backend.split(" ");
  return [...(device === "cpu" ? [] : ["--device", device]), ...(dtype ? ["--dtype", dtype] : [])];
}

/// The boards behind static scales as flags, where the configurations agree on them; else the recipe has them. Records
/// from before that flag drew from the boards that were scored.
function calibrationFlags(calibrations, data) {
  const only = (value) => ([...new Set(calibrations.map(value))].length === 1 ? value(calibrations[0]) : undefined);
  const [file, sha256, boards, seed] = [only((c) => c.file), only((c) => c.sha256), only((c) => c.boards), only((c) => c.seed)];
  return [...(file && file !== "generated" ? ["--calibration-data", file] : []),
    ...(boards === undefined ? [] : ["--calibration-boards", boards]), ...(seed === undefined ? [] : ["--calibration-seed", seed]),
    ...(sha256 && sha256 === data.sha256 ? ["--calibration-may-overlap"] : [])];
}

/// Flags that a record names as such: {source: "model.safetensors", set: ["steps=2"], "calibration-may-overlap": true}.
const namedFlags = (flags = {}) => Object.entries(flags).flatMap(([name, value]) =>
  (value === true ? [`--${name}`] : [value].flat().flatMap((each) => [`--${name}`, each])));

/// Words as a command line, each flag once but for those with several values.
function commandLine(words) {
  const parts = words.map(String);
  const isSwitch = (part) => part === "--calibration-may-overlap";
  return ["driftless", ...parts.filter((part, i) => !isSwitch(part) || parts.indexOf(part) === i).map(word)].join(" ");
}

/// What one call of ladder or study has in common. Rows without calibration or attention suit any.
function isOneCall(call, {config, study}) {
  const agrees = (value) => value(config) === undefined || call.every((r) => [undefined, value(config)].includes(value(r.config)));
  return study !== "ladder" || (call.every((r) => r.config.coverage === config.coverage && r.config.steps === config.steps
    && JSON.stringify(r.config.flags) === JSON.stringify(config.flags))
    && agrees((c) => c.attention) && agrees((c) => (c.calibration ? JSON.stringify(c.calibration) : undefined)));
}

/// Records in the order of their rows, by the call of the program that made them.
function callsOf(records) {
  const calls = [];
  for (const record of records) {
    const call = calls.find((each) => isOneCall(each, record));
    if (call) call.push(record);
    else calls.push([record]);
  }
  return calls;
}

/// The command that makes these records again.
function commandOf(records) {
  const [{study, checkpoint, data, n, config}] = records;
  const backend = records.find((r) => r.execution === "native")?.config.backend ?? config.backend;
  const calibrations = records.map((r) => r.config.calibration).filter(Boolean);
  const shared = ["--data", data.file, "--limit", n, "--seed", config.seed, ...deviceFlags(backend),
    ...(config.batch === usualBatch(backend.split(" ")[0]) ? [] : ["--batch", config.batch]),
    ...calibrationFlags(calibrations, data), ...namedFlags(config.flags)];
  if (study !== "ladder") return commandLine(["study", study, "--model", checkpoint.file, ...shared, "--out", `${study}.jsonl`]);
  const {attention} = records.map((r) => r.config).find((c) => c.attention) ?? {};
  const isPacked = config.flags?.source || config.flags?.start;
  const schemes = [...new Set(records.map((r) => schemeOf(r.config)))];
  return commandLine(["ladder", checkpoint.file, ...shared, "--coverage", config.coverage, "--steps", config.steps,
    ...(isPacked ? [] : [...(attention ? ["--attention", attention] : []), "--schemes", ...schemes])]);
}

/// The records of the calls that made these, simulations beside native rows too.
function madeTogether(records) {
  const [first] = records;
  const key = (r) => JSON.stringify([r.study, r.checkpoint, r.data, r.n, r.config.seed, r.version]);
  const partners = page.records.filter((r) => key(r) === key(first) && (r.config.backend === "cpu" || r.config.backend === "native"));
  const hasNative = partners.some((r) => r.config.backend === "native") && ["cpu", "native"].includes(first.config.backend);
  return hasNative ? partners.slice().sort((a, b) => a.row - b.row) : records;
}

function distinct(records, value) {
  return [...new Set(records.map(value))].join(", ");
}

/// n, seed, checkpoint, schemes and command of a figure.
function provenance(records) {
  const [first] = records;
  const facts = [
    `n ${first.n} boards of ${first.data.file}`,
    `seed ${first.config.seed}`,
    `checkpoint ${first.checkpoint.file} (sha256 ${first.checkpoint.sha256.slice(0, 12)})`,
    `coverage ${distinct(records, (r) => r.config.coverage)}`,
    `${distinct(records, (r) => r.config.steps)} steps`,
    `${distinct(records, (r) => r.execution)} on ${distinct(records, (r) => r.config.backend)}`,
    `driftless ${first.version}`,
  ];
  const gaps = missingRows(records);
  return make("div", {class: "provenance"},
    make("p", {}, facts.join(" · ")),
    make("p", {}, `Schemes: ${distinct(records, (r) => schemeLabel(r.config))}`),
    ...callsOf(madeTogether(records)).map((call) => make("p", {}, "Command: ", make("code", {}, commandOf(call)))),
    gaps.length > 0
      ? make("p", {class: "warning"}, `This study is not finished: row ${gaps.join(", ")} is missing. The command above continues it.`)
      : null);
}
