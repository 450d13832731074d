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
function schemeWord({weights, acts}) {
  return word(isSameFormat(weights, acts) ? acts : `${weights}:${acts}`);
}

/// The flags of records that are not the program's defaults: device, number type, boards of calibration.
function unusualFlags(records) {
  const [device, dtype] = records[0].config.backend.split(" ");
  const boards = [...new Set(records.map((r) => r.config.calibration?.boards).filter(isFinite))];
  return [device === "cpu" ? "" : ` --device ${word(device)}`, dtype ? ` --dtype ${word(dtype)}` : "",
    boards.length === 1 && boards[0] !== 200 && records[0].study !== "ladder" ? ` --set calibration_boards=${boards[0]}` : ""].join("");
}

function commandOf(records) {
  const [{study, checkpoint, data, n, config}] = records;
  const files = `--data ${word(data.file)} --limit ${n} --seed ${config.seed}${unusualFlags(records)}`;
  return study === "ladder"
    ? `driftless ladder ${word(checkpoint.file)} ${files} --coverage ${config.coverage} --steps ${config.steps} --schemes ${records.map((r) => schemeWord(r.config)).join(" ")}`
    : `driftless study ${word(study)} --model ${word(checkpoint.file)} ${files} --out ${word(`${study}.jsonl`)}`;
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
    make("p", {}, "Command: ", make("code", {}, commandOf(records))),
    gaps.length > 0
      ? make("p", {class: "warning"}, `This study is not finished: row ${gaps.join(", ")} is missing. The command above continues it.`)
      : null);
}
