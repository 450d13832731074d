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

/// One button a series. `redraw` also tells the buttons how their series look now.
function legendOf(labels, hasLines, choice, redraw) {
  const legend = make("div", {class: "legend", role: "group", "aria-label": "Series to show"});
  const buttons = labels.map((label) => {
    const button = make("button", {type: "button"});
    const key = d3.select(button).append("svg").attr("viewBox", "0 0 30 12").attr("aria-hidden", "true");
    const line = hasLines ? key.append("path").attr("d", "M0,6H30").attr("stroke-width", 2) : null;
    const symbol = key.append("path").attr("transform", "translate(15,6)");
    button.append(label);
    button.addEventListener("click", () => {
      choice.toggle(label);
      redraw();
    });
    legend.append(button);
    return () => {
      const look = choice.lookOf(label);
      button.setAttribute("aria-pressed", String(choice.has(label)));
      line?.attr("stroke", look.color).attr("stroke-dasharray", look.dash);
      symbol.attr("fill", look.color).attr("d", symbolPath(look, 40));
    };
  });
  if (labels.length > looks.length) legend.append(make("span", {class: "more"}, `${looks.length} of ${labels.length} at once; one more takes the place of the oldest`));
  legend.refresh = () => buttons.forEach((refresh) => refresh());
  return legend;
}

/// The groups of records that a figure is drawn from: its own, or of each checkpoint those of the first study that
/// has some, or of every study where the figure says so; those with the most boards first.
function groupsFor(figure) {
  if (figure.groups) return figure.groups();
  const groups = [];
  const isDone = (checkpoint) => !figure.every && groups.some(([first]) => first.checkpoint.sha256 === checkpoint.sha256);
  for (const study of figure.studies) groups.push(...groupsOf(study).filter(([first]) => !isDone(first.checkpoint)));
  return groups.sort(([a], [b]) => b.n - a.n);
}

/// A figure with its legend, its numbers and buttons to save it. `heading` tells apart the figures of one study;
/// `origin` says where the numbers come from.
function makeFigure(figure, panels, {id, title, heading = null, origin}) {
  const hasMarks = panels.some((panel) => (panel.series ?? panel.rows).length > 0);
  const element = make("figure", {id, role: "group", "aria-label": title},
    make("figcaption", {}, heading === null ? null : make("h4", {}, heading), make("p", {}, figure.text)));
  if (!hasMarks) {
    element.append(make("p", {class: "warning"}, "The records do not hold what this figure shows."), origin ?? "");
    element.finding = "";
    return element;
  }
  const labels = [...new Set(panels.flatMap(seriesOf))].filter(Boolean);
  const choice = new Shown(labels);
  const boxes = panels.map((panel) => {
    panel.name = nameOf(title, panel);
    const box = make("div", {class: "panel"});
    const holder = make("div", {}, ...(panels.length > 1 || panel.kind === "heat" ? [make("h4", {}, panel.title)] : []), box);
    box.tip = tipOf(box);
    return {box, holder, panel};
  });
  const redraw = () => {
    boxes.forEach(({box, panel}) => drawers[panel.kind](box, panel, choice));
    legend?.refresh();
  };
  const legend = labels.length > 0 && !panels[0].direct ? legendOf(labels, Boolean(panels[0].series), choice, redraw) : null;
  element.append(make("div", {class: "panels"}, ...boxes.map(({holder}) => holder)), ...[legend, toneKey(panels)].filter(Boolean),
    saveButtons(element, id, title), ...[origin].filter(Boolean), numbersOf(id, title, panels));
  element.draw = redraw;
  const extent = (panel) => (panel.values ? d3.max(panel.values.flat().filter(isFinite), Math.abs) : 0);
  element.finding = findingOf(panels.filter((panel) => (panel.series ?? panel.rows).length > 0).sort((a, b) => extent(b) - extent(a))[0]);
  let width = 0;
  new ResizeObserver(() => {
    const now = boxes[0].box.clientWidth;
    if (now === width || now === 0) return;
    width = now;
    redraw();
  }).observe(boxes[0].box);
  return element;
}

/// What the colors of dots without series stand for.
function toneKey(panels) {
  const tones = new Set(panels.flatMap((panel) => (panel.kind === "dots" ? panel.rows.filter((row) => !row.series).map(({tone}) => tone) : [])));
  const parts = [["contracts", "circles: contracts toward the float trajectory"], ["drifts", "squares: drifts or saturates"]]
    .filter(([tone]) => tones.has(tone) || (tone === "drifts" && tones.has("saturates")));
  return parts.length > 0 && panels[0].hasTones ? make("p", {class: "key"}, parts.map(([, text]) => text).join("; ")) : null;
}

const allFigures = () => [...figures, ...speedFigures, ...otherFigures()];

const groupName = ([{study, checkpoint, n}]) => `${study}, ${checkpoint.file}, n ${n}`;

/// A fold for every figure that has records, with one figure a group; returns the figures that have none.
function addFigures() {
  const sections = new Map();
  const missing = [];
  for (const figure of allFigures()) {
    const groups = groupsFor(figure);
    if (groups.length === 0) {
      missing.push(figure);
      continue;
    }
    if (!sections.has(figure.section)) sections.set(figure.section, addSection(figure.section));
    const section = sections.get(figure.section);
    const {nameOf = groupName, origin = provenance} = figure;
    const elements = groups.map((records, i) => {
      const heading = groups.length > 1 ? nameOf(records) : null;
      const element = makeFigure(figure, figure.panels(records), {id: i === 0 ? figure.id : `${figure.id}-${i}`,
        title: heading === null ? figure.title : `${figure.title} (${heading})`, heading, origin: origin(records)});
      const [first] = records;
      Object.assign(element.dataset, {model: modelName(first.checkpoint?.file ?? first.model ?? ""), study: first.study ?? figure.studies[0]});
      return element;
    });
    const study = makeStudy(figure.title, elements);
    section.append(study);
    const entry = addEntry(section, `#${figure.id}`, figure.title);
    onFilter.push(() => { entry.hidden = study.hidden; });
  }
  return missing;
}

function addPlayers() {
  if (page.traces.length === 0) return;
  const section = addSection("Board player");
  page.traces.forEach((trace, i) => {
    const model = modelName(trace.checkpoint.file);
    const player = makePlayer(trace, i);
    const suffix = page.traces.length > 1 ? ` (${trace.checkpoint.file}, ${trace.data.file})` : "";
    const title = basinFigure.title + suffix;
    const basin = makeFigure(basinFigure, [planePanel(trace)], {id: i === 0 ? basinFigure.id : `${basinFigure.id}-${i}`, title, origin: traceProvenance(trace)});
    for (const element of [player, basin]) Object.assign(element.dataset, {model, study: ""});
    player.finding = `${trace.boards.length} boards under ${trace.schemes.length} schemes, step by step`;
    const folds = [makeStudy(`Board player: ${trace.checkpoint.file}, ${trace.task}`, [player]), makeStudy(title, [basin])];
    section.append(...folds);
    folds[0].classList.add("has-player");
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

function addHead() {
  const studies = [...new Set([...page.records.map((record) => record.study), ...page.qat.map(() => "qat"), ...page.benches.map(() => "bench")])];
  const models = [...new Set([...page.records, ...page.qat, ...page.traces].map((record) => record.checkpoint.file))];
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const listed = (names, noun) => (names.length > 4 ? `${names.length} ${noun}` : `${noun}: ${names.join(", ")}`);
  document.getElementById("summary").textContent = [count(page.records.length + page.qat.length + page.benches.length, "record"),
    studies.length > 0 ? listed(studies, "studies") : null, models.length > 0 ? listed(models, "checkpoints") : null]
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

/// A page without claims is about a few studies: it shows the first, and the player.
function openFirst() {
  if (page.claims.length > 0) return;
  for (const first of ["details.study", "details.has-player"].map((fold) => document.querySelector(fold)))
    if (first) first.open = true;
}

addTheme();
addHead();
addWarnings();
addOverview();
addClaims();
const missing = addFigures();
addPlayers();
addMissing(missing);
addFilter();
addRevealing();
openFirst();
// Figures are drawn when their boxes first have a width: before the second frame.
requestAnimationFrame(() => requestAnimationFrame(() => {
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}));
