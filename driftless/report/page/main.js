// Puts the page together: warnings, claims, figures, players, and what is missing.

const drawers = {lines: drawLines, dots: drawDots, heat: drawHeat, plane: drawPlane};

/// What a screen reader says of a panel: its title and its last or only values.
function nameOf(title, panel) {
  const most = 12;
  const says = {
    lines: () => panel.series.map((s) => `${s.label} ${unitText(panel, s.points.at(-1)?.y)}`),
    dots: () => panel.rows.map((row) => `${[row.label, row.series].filter(Boolean).join(", ")} ${unitText(panel, row.value)}`),
    plane: () => panel.series.map((s) => `${s.label} ends ${numberText(Math.hypot(s.points.at(-1).x, s.points.at(-1).y))} away`),
    heat: () => [`${panel.rows.length} layers by ${panel.columns.length} calls`],
  }[panel.kind]();
  const rest = says.length > most ? `; and ${says.length - most} more` : "";
  return `${title}, ${panel.title}: ${says.slice(0, most).join("; ")}${rest}`;
}

/// The series of a panel: lines, or marks that share a line of dots.
const seriesOf = (panel) => (panel.series ? panel.series.map(({label}) => label) : panel.kind === "dots" ? panel.rows.map(({series}) => series) : []);

function legendOf(labels, hasLines, hidden, redraw) {
  const legend = make("div", {class: "legend", role: "group", "aria-label": "Series to show"});
  for (const label of labels) {
    const button = make("button", {type: "button", "aria-pressed": "true"});
    const style = styleOf(label);
    const key = d3.select(button).append("svg").attr("viewBox", "0 0 30 12").attr("aria-hidden", "true");
    if (hasLines) key.append("path").attr("d", "M0,6H30").attr("stroke", style.color).attr("stroke-width", 2).attr("stroke-dasharray", style.dash);
    key.append("path").attr("transform", "translate(15,6)").attr("d", symbolPath(style, 40)).attr("fill", style.color);
    button.append(label);
    button.addEventListener("click", () => {
      if (!hidden.delete(label)) hidden.add(label);
      button.setAttribute("aria-pressed", String(!hidden.has(label)));
      redraw();
    });
    legend.append(button);
  }
  return legend;
}

/// The groups of records that a figure is drawn from: its own, or of each checkpoint those of the first study that
/// has some, or of every study where the figure says so.
function groupsFor(figure) {
  if (figure.groups) return figure.groups();
  const groups = [];
  const isDone = (checkpoint) => !figure.every && groups.some(([first]) => first.checkpoint.sha256 === checkpoint.sha256);
  for (const study of figure.studies) groups.push(...groupsOf(study).filter(([first]) => !isDone(first.checkpoint)));
  return groups;
}

/// `suffix` tells apart the figures of several groups; it is empty for a single one. `origin` says where
/// the numbers come from.
function makeFigure(figure, panels, index, suffix, origin) {
  const hasMarks = panels.some((panel) => (panel.series ?? panel.rows).length > 0);
  const id = index === 0 ? figure.id : `${figure.id}-${index}`;
  const title = figure.title + suffix;
  const element = make("figure", {id, role: "group", "aria-labelledby": `${id}-title`},
    make("figcaption", {}, make("h3", {id: `${id}-title`}, title), make("p", {}, figure.text)));
  if (!hasMarks) {
    element.append(make("p", {class: "warning"}, "The records do not hold what this figure shows."), origin);
    return element;
  }
  const hidden = new Set();
  const boxes = panels.map((panel) => {
    panel.name = nameOf(title, panel);
    const box = make("div", {class: "panel"});
    const holder = make("div", {}, ...(panels.length > 1 || panel.kind === "heat" ? [make("h4", {}, panel.title)] : []), box);
    box.tip = tipOf(box);
    return {box, holder, panel};
  });
  const redraw = () => boxes.forEach(({box, panel}) => drawers[panel.kind](box, panel, hidden));
  element.append(make("div", {class: "panels"}, ...boxes.map(({holder}) => holder)));
  const labels = [...new Set(panels.flatMap(seriesOf))].filter(Boolean);
  if (labels.length > 0) element.append(legendOf(labels, Boolean(panels[0].series), hidden, redraw));
  element.append(origin, numbersOf(id, title, panels));
  let width = 0;
  new ResizeObserver(() => {
    if (boxes[0].box.clientWidth === width) return;
    width = boxes[0].box.clientWidth;
    redraw();
  }).observe(boxes[0].box);
  return element;
}

function addSection(title) {
  const id = `section-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  const section = make("section", {id, "aria-labelledby": `${id}-title`}, make("h2", {id: `${id}-title`}, title));
  document.getElementById("main").append(section);
  let list = document.querySelector("#contents ul");
  if (!list) list = document.getElementById("contents").appendChild(make("ul"));
  list.append(make("li", {}, make("a", {href: `#${id}`}, title)));
  return section;
}

const groupName = ([{study, checkpoint, n}]) => `${study}, ${checkpoint.file}, n ${n}`;

/// Draws every figure that has records and returns those that have none.
function addFigures() {
  const sections = new Map();
  const missing = [];
  for (const figure of [...figures, ...speedFigures, ...otherFigures()]) {
    const groups = groupsFor(figure);
    if (groups.length === 0) {
      missing.push(figure);
      continue;
    }
    if (!sections.has(figure.section)) sections.set(figure.section, addSection(figure.section));
    const {nameOf = groupName, origin = provenance} = figure;
    groups.forEach((records, i) => {
      const suffix = groups.length > 1 ? `: ${nameOf(records)}` : "";
      sections.get(figure.section).append(makeFigure(figure, figure.panels(records), i, suffix, origin(records)));
    });
  }
  return missing;
}

const verdictText = {holds: "holds", "in part": "holds in part", fails: "does not hold"};
const unmeasured = "not measured yet";
const verdictOf = (claim) => verdictText[claim.verdict] ?? unmeasured;

/// "holds: 5 · holds in part: 2 · not measured yet: 8".
function tallyOf(claims) {
  const counts = [...Object.values(verdictText), unmeasured].map((text) => [text, claims.filter((claim) => verdictOf(claim) === text).length]);
  return counts.filter(([, count]) => count > 0).map(([text, count]) => `${text}: ${count}`).join(" · ");
}

function addClaims() {
  if (page.claims.length === 0) return;
  const section = addSection("Claim by claim");
  section.append(make("p", {id: "tally"}, tallyOf(page.claims)));
  const rows = page.claims.map((claim) => {
    const figure = [...figures, ...speedFigures, ...otherFigures()].find(({studies}) => studies.includes(claim.study));
    const hasFigure = figure && groupsFor(figure).length > 0;
    return make("tr", {},
      make("td", {}, claim.claim, " ", make("small", {}, `(${claim.source})`)),
      make("td", {"data-head": "theirs: "}, claim.theirs),
      make("td", {"data-head": "ours: "}, claim.ours ?? "–", ...(hasFigure ? [" ", make("a", {href: `#${figure.id}`}, "figure")] : [])),
      make("td", {class: "verdict", "data-verdict": claim.verdict ?? ""}, verdictOf(claim)),
      make("td", {}, claim.reason));
  });
  const heads = ["claim", "theirs", "ours", "verdict", "reason"].map((head) => make("th", {scope: "col"}, head));
  section.append(make("div", {class: "claims"},
    make("table", {"aria-label": "Claims and verdicts"}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows))));
}

function addPlayers() {
  if (page.traces.length === 0) return;
  const section = addSection("Board player");
  page.traces.forEach((trace, i) => {
    const suffix = page.traces.length > 1 ? `: ${trace.checkpoint.file}, ${trace.data.file}` : "";
    section.append(makePlayer(trace, i), makeFigure(basinFigure, [planePanel(trace)], i, suffix, traceProvenance(trace)));
  });
  if (page.boards_left_out > 0)
    section.append(make("p", {class: "warning"}, `${page.boards_left_out} more boards stay in the trace files, to keep this page small.`));
}

function addMissing(missing) {
  if (missing.length === 0 && page.traces.length > 0) return;
  const isEmpty = page.records.length + page.qat.length + page.benches.length === 0;
  const section = addSection("What is missing");
  const rows = missing.map((figure) => {
    const [study] = figure.studies;
    const command = figure.command ?? `driftless study ${study} --model MODEL --data DATA --out ${study}.jsonl`;
    return make("li", {}, `${figure.title}: `, make("code", {}, command));
  });
  if (page.traces.length === 0)
    rows.push(make("li", {}, "Board player: ", make("code", {}, "driftless trace MODEL --data DATA --out trace.json")));
  section.append(
    make("p", {}, isEmpty ? "There are no records to draw. Each of these commands makes some:" : "These files hold no records for the following:"),
    isEmpty ? make("ul", {}, ...rows)
      : make("details", {"aria-label": "Figures without records"}, make("summary", {}, `${rows.length} more, with the commands that make them`), make("ul", {}, ...rows)));
}

function addWarnings() {
  const box = document.getElementById("warnings");
  if (page.skipped.length > 0) {
    const most = 20;
    const lines = page.skipped.slice(0, most).map((line) => make("li", {}, line.reason));
    if (page.skipped.length > most) lines.push(make("li", {}, `and ${page.skipped.length - most} more`));
    box.append(make("div", {class: "warning"}, `${page.skipped.length} ${page.skipped.length === 1 ? "line was" : "lines were"} skipped:`, make("ul", {}, ...lines)));
  }
  const versions = [...new Set(page.records.map((record) => record.version))];
  if (versions.length > 1)
    box.append(make("div", {class: "warning"}, `Records of several versions of driftless: ${versions.join(", ")}. They are not drawn into one figure.`));
}

function addSummary() {
  const studies = [...new Set([...page.records.map((record) => record.study), ...page.qat.map(() => "qat"), ...page.benches.map(() => "bench")])];
  const models = [...new Set([...page.records, ...page.qat, ...page.traces].map((record) => record.checkpoint.file))];
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  document.getElementById("summary").textContent = [count(page.records.length + page.qat.length + page.benches.length, "record"),
    studies.length > 0 ? `studies: ${studies.join(", ")}` : null, models.length > 0 ? `checkpoints: ${models.join(", ")}` : null]
    .filter(Boolean).join(" · ");
  document.getElementById("footer").append(make("p", {}, `Made by driftless ${page.version} from ${page.files.join(", ")}. Intervals are 95 %.`));
}

/// Three states: the system's choice, light, dark.
function addTheme() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const choices = ["as the system", "light", "dark"];
  let choice = 0;
  const apply = () => {
    const isDark = choice === 2 || (choice === 0 && system.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    button.textContent = `Theme: ${choices[choice]}`;
  };
  button.addEventListener("click", () => {
    choice = (choice + 1) % choices.length;
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

addTheme();
addSummary();
addWarnings();
addClaims();
const missing = addFigures();
addPlayers();
addMissing(missing);
// Figures are drawn when their boxes first have a width: before the second frame.
requestAnimationFrame(() => requestAnimationFrame(() => {
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}));
