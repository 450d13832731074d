// The top of the page: what survives, what does not, and one figure with three lines that carry their names.

const survives = 0.9;  // of the boards that float solves
const isLost = 0.5;
const fewBoards = 100;  // below, an interval is wider than what separates most formats

const shareOfFloat = (r) => r.exact.share / r.float_exact.share;
const bitsOf = (r) => r.bits.weights + r.bits.acts;

/// Groups with a float row that solves something and several others; of a study those with the most boards first.
function summaryGroups() {
  const studies = ["format-ladder", "ladder", "hrm-ladder", "maze-ladder", "mini-arc-ladder", "contraction", "atlas", "untied", "stochastic"];
  const isFit = (group) => group.some((r) => r.execution === floatLabel && r.exact.share > 0) && group.length > 2;
  return studies.flatMap((study) => groupsOf(study).filter(isFit).sort((a, b) => b[0].n - a[0].n));
}

/// One row a scheme, without float and without rows of other depth or coverage than the float row's.
function schemesOf(group) {
  const reference = group.find((r) => r.execution === floatLabel);
  const alike = (r) => ["coverage", "h_cycles", "l_cycles", "steps"].every((key) => r.config[key] === reference.config[key]);
  const rows = group.filter((r) => r.execution !== floatLabel && alike(r));
  return {reference, rows: [...d3.group(rows, (r) => schemeLabel(r.config)).values()].map(([first]) => first)};
}

/// Float, the survivor of the fewest bits (where none survives, the row that keeps most), and the row that lost most:
/// three lines tell it.
function contrastOf({reference, rows}) {
  const bySteps = rows.filter((r) => r.steps?.exact).sort((a, b) => a.exact.share - b.exact.share);
  const survivors = bySteps.filter((r) => shareOfFloat(r) >= survives).sort((a, b) => bitsOf(a) - bitsOf(b) || b.exact.share - a.exact.share);
  const [best, worst] = [survivors[0] ?? bySteps.at(-1), bySteps[0]];
  return [...new Set([reference, best, worst])].filter((r) => r?.steps?.exact);
}

function chipsOf(title, rows, kind) {
  const items = rows.map((r) => make("li", {}, schemeLabel(r.config), " ", make("b", {}, `${(100 * r.exact.share).toFixed(1)} %`)));
  return make("div", {class: "outcome", "data-outcome": kind}, make("h3", {}, `${title}: ${rows.length}`), make("ul", {}, ...items));
}

/// "1 keeps", "2 keep".
const keepText = (count, what) => `${count || "none"} ${count > 1 ? "keep" : "keeps"} ${what}`;

function summaryOf(group) {
  const {reference, rows} = schemesOf(group);
  const sorted = rows.slice().sort((a, b) => b.exact.share - a.exact.share);
  const [kept, lost] = [sorted.filter((r) => shareOfFloat(r) >= survives), sorted.filter((r) => shareOfFloat(r) < isLost)];
  const between = sorted.filter((r) => !kept.includes(r) && !lost.includes(r));
  const model = modelName(reference.checkpoint.file);
  const text = `${model} solves ${percentText(reference.exact.share)} of ${reference.n.toLocaleString("en")} boards in float. ` +
    `Of ${rows.length} number formats, ${keepText(kept.length, "at least nine tenths of that")}, and ${keepText(lost.length, "less than half")}.` +
    (reference.n < fewBoards ? ` So few boards say little: the 95 % interval of float alone is ${percentText(reference.exact.low)} to ${percentText(reference.exact.high)}.` : "");
  const figure = {id: "summary-figure", title: `${model}: accuracy step by step`, text: `Boards solved after each step, with 95 % bands: float, ${kept.length > 0 ? "the format of the fewest bits that survives" : "the format that keeps most"}, and the one that loses most.`};
  const panels = [{...stepPanel(contrastOf({reference, rows}), {metric: "exact", title: "boards solved", percent: true}), direct: true}];
  return [make("p", {class: "lead"}, text),
    make("div", {class: "outcomes"}, chipsOf("Survives", kept, "kept"), ...(between.length > 0 ? [chipsOf("Weakened", between, "between")] : []), chipsOf("Does not", lost, "lost")),
    makeFigure(figure, panels, {id: figure.id, title: figure.title, origin: null})];
}

/// Of the chosen model, or of the group with the most boards.
function addOverview() {
  const groups = summaryGroups();
  if (groups.length === 0) return;
  const section = addSection("In short");
  const body = section.appendChild(make("div"));
  const fill = (model) => {
    const group = groups.find(([first]) => !model || modelName(first.checkpoint.file) === model);
    section.hidden = !group;
    if (group) body.replaceChildren(...summaryOf(group));
  };
  fill("");
  onFilter.push(({model}) => fill(model));
}
