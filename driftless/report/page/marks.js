// The marks: lines with bands, and dots with intervals (heat_map.js has the third). A panel is plain data:
//   {kind: "lines", title, x, y, log, connect, direct, series: [{label, points: [{x, y, low, high}]}]}
//   {kind: "dots", title, x, reference: {value, low, high}, rows: [{label, series, tone, value, low, high, extra}]}; rows of
//     one label share a line, and a series, or else the tone, is told by color and symbol
//   {kind: "heat", title, rows, columns, values, diverging}
// Each is drawn at the width of its box, again whenever that changes.

// Six styles that can be told apart, by color, dash and symbol alike.
const looks = [
  {dash: "", symbol: d3.symbolCircle}, {dash: "7 3", symbol: d3.symbolSquare}, {dash: "2 3", symbol: d3.symbolTriangle},
  {dash: "9 3 2 3", symbol: d3.symbolDiamond}, {dash: "12 4", symbol: d3.symbolCross}, {dash: "4 2 1 2", symbol: d3.symbolStar},
].map((look, i) => ({...look, color: `var(--series-${i})`}));
const floatLook = {color: "var(--ink)", dash: "", symbol: d3.symbolCircle};
const hiddenLook = {color: "var(--quiet)", dash: "", symbol: d3.symbolCircle};

/// Schemes that look the same in every figure, and are shown first.
const reservedLooks = new Map([[floatLabel, floatLook], ["mxint4", looks[0]], ["int4/tensor/static", looks[1]], ["int8/tensor/static", looks[2]]]);

/// Which series of a figure are shown, at most six at once, and how they look.
class Shown {
  #looks = new Map();

  constructor(labels) {
    this.labels = labels;
    const first = labels.filter((label) => reservedLooks.has(label)).concat(labels.filter((label) => !reservedLooks.has(label)));
    const chosen = new Set(first.slice(0, looks.length));
    for (const label of labels) if (chosen.has(label)) this.show(label);
  }
  has(label) {
    return label === undefined || this.#looks.has(label);
  }
  /// A seventh takes the place of the one that was shown for the longest time.
  show(label) {
    if (this.#looks.size === looks.length) this.#looks.delete(this.#looks.keys().next().value);
    const taken = new Set(this.#looks.values());
    const reserved = new Set(this.labels.map((other) => reservedLooks.get(other)));
    const free = looks.filter((look) => !taken.has(look));
    const own = reservedLooks.get(label);
    this.#looks.set(label, own && !taken.has(own) ? own : free.find((look) => !reserved.has(look)) ?? free[0]);
  }
  toggle(label) {
    if (!this.#looks.delete(label)) this.show(label);
  }
  lookOf(label) {
    return this.#looks.get(label) ?? hiddenLook;
  }
}

/// A row of dots without series says by color and symbol what became of the trajectory.
const toneLooks = {[floatLabel]: floatLook, contracts: looks[0], drifts: looks[1], saturates: looks[1]};

const symbolPath = (style, area) => d3.symbol().type(style.symbol).size(area)();

const percentText = (value) => `${(100 * value).toFixed(2)} %`;

function numberText(value) {
  if (!isFinite(value)) return "no value";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(3);
  return String(Number(value.toPrecision(5)));
}

const unitText = (panel, value) => (panel.percent && isFinite(value) ? percentText(value) : numberText(value));

function intervalText(panel, point) {
  const text = unitText(panel, point.y ?? point.value);
  return isFinite(point.low) ? `${text} (95 %: ${unitText(panel, point.low)} to ${unitText(panel, point.high)})` : text;
}

/// A tooltip inside a panel's box; text only.
function tipOf(box) {
  const tip = box.appendChild(make("div", {class: "tip", hidden: ""}));
  return {
    show(x, y, text) {
      tip.hidden = false;
      tip.textContent = text;
      const left = Math.max(0, Math.min(x + 12, box.clientWidth - tip.offsetWidth));
      tip.style.left = `${left}px`;
      tip.style.top = `${Math.max(0, y - tip.offsetHeight - 10)}px`;
    },
    hide() {
      tip.hidden = true;
    },
  };
}

function newSvg(box, width, height, name) {
  d3.select(box).select("svg").remove();
  return d3.select(box).append("svg").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", width).attr("role", "img").attr("aria-label", name);
}

/// A scale over the values, with ten percent of room on a log axis and zero on a linear one.
function valueScale(values, log, range) {
  const finite = values.filter((value) => isFinite(value) && (!log || value > 0));
  const [low, high] = finite.length > 0 ? d3.extent(finite) : [log ? 0.1 : 0, 1];
  if (log) return d3.scaleLog().domain([low / 1.1, high * 1.1]).range(range);
  return d3.scaleLinear().domain([Math.min(0, low), high === 0 ? 1 : high]).nice(5).range(range);
}

/// The ends of an interval that the axis has to show: a share's end at 0 and 1, whatever a file says.
const endsOf = (panel, {low, high}) => [low, high].map((end) => (panel.percent && isFinite(end) ? Math.min(1, Math.max(0, end)) : end));

/// A value, or the end of the axis that it lies beyond.
function within(scale, value) {
  const [low, high] = scale.domain();
  return scale(Math.min(high, Math.max(low, value)));
}

function tickFormat(panel) {
  if (panel.percent) return (value) => `${Number((100 * value).toPrecision(4))} %`;
  return (value) => (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(0) : String(Number(value.toPrecision(4))));
}

/// At most six ticks; on a log axis the powers of ten, or 1-2-5 steps where there are few.
function ticksOf(scale, log) {
  if (!log) return scale.ticks(5);
  const [low, high] = scale.domain();
  const decades = Math.log10(high / low);
  const factors = decades > 3 ? [1] : decades > 1.2 ? [1, 3] : [1, 1.5, 2, 3, 5, 7];
  const all = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1)
    .flatMap((exponent) => factors.map((factor) => factor * 10 ** exponent));
  const inside = all.filter((tick) => tick >= low && tick <= high);
  const stride = Math.ceil(inside.length / 6);
  return inside.filter((_, index) => index % stride === 0);
}

function drawValueAxis(svg, panel, scale, log, left, right) {
  const ticks = ticksOf(scale, log);
  svg.append("g").attr("aria-hidden", "true").selectAll("line").data(ticks).enter().append("line")
    .attr("class", "grid").attr("x1", left).attr("x2", right).attr("y1", scale).attr("y2", scale);
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(scale).tickValues(ticks).tickFormat(tickFormat(panel)).tickSize(0).tickPadding(6))
    .select(".domain").remove();
}

function xScaleOf(panel, points, range) {
  const values = [...new Set(points.map((point) => point.x))].sort(d3.ascending);
  const scale = panel.logX ? d3.scaleLog() : d3.scaleLinear();
  const [low, high] = d3.extent(values);
  const isSingle = !(low < high);
  scale.domain(isSingle ? [low / 2, low * 1.5] : panel.logX ? [low / 1.1, high * 1.1] : [low, high]).range(range);
  const most = Math.max(2, Math.floor((range[1] - range[0]) / (panel.logX ? 56 : 34)));
  const stride = Math.ceil(values.length / most);
  return {scale, ticks: values.filter((_, index) => index % stride === 0)};
}

function drawLines(box, panel, choice) {
  const width = Math.max(260, box.clientWidth);
  const height = Math.min(320, Math.max(220, width * 0.58));
  const shown = panel.series.filter((series) => choice.has(series.label));
  const labelRoom = panel.direct ? d3.max(shown, ({label}) => label.length) * 7 + 14 : 10;
  const [left, right, top, bottom] = [52, width - labelRoom, 10, height - 38];
  const points = shown.flatMap((series) => series.points);
  const svg = newSvg(box, width, height, panel.name);
  const {scale: x, ticks} = xScaleOf(panel, panel.series.flatMap((series) => series.points), [left + 6, right - 6]);
  const y = valueScale(points.flatMap((p) => [p.y, ...endsOf(panel, p)]), panel.log, [bottom, top]);
  drawValueAxis(svg, panel, y, panel.log, left, right);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`)
    .call(d3.axisBottom(x).tickValues(ticks).tickFormat(tickFormat({})).tickSize(4));
  svg.append("text").attr("class", "axis-label").attr("x", (left + right) / 2).attr("y", height - 4)
    .attr("text-anchor", "middle").text(panel.x);
  const isShown = (point) => isFinite(point.y) && (!panel.log || point.y > 0);
  for (const series of shown) {
    const style = choice.lookOf(series.label);
    const group = svg.append("g").attr("class", "series").attr("data-label", series.label);
    const area = d3.area().defined((p) => isShown(p) && isFinite(p.low)).x((p) => x(p.x))
      .y0((p) => within(y, p.low)).y1((p) => within(y, p.high));
    const line = d3.line().defined(isShown).x((p) => x(p.x)).y((p) => y(p.y));
    if (panel.connect !== false) {
      group.append("path").attr("class", "band").attr("fill", style.color).attr("stroke", style.color).attr("d", area(series.points));
      group.append("path").attr("class", "line").attr("stroke", style.color)
        .attr("stroke-dasharray", style.dash).attr("d", line(series.points));
    }
    // Symbols of many steps would hide the line and its band.
    const stride = Math.ceil(series.points.length / 20);
    group.selectAll("path.point").data(series.points.filter((p, i) => isShown(p) && i % stride === 0)).enter().append("path").attr("class", "point")
      .attr("transform", (p) => `translate(${x(p.x)},${y(p.y)})`)
      .attr("fill", style.color).attr("d", symbolPath(style, panel.connect === false ? 56 : 30));
  }
  if (panel.direct) drawEndLabels(svg, shown.map((series) => ({series, point: series.points.findLast(isShown)})), x, y, choice);
  hoverLines(box, svg, panel, shown, x, y, isShown);
}

/// The name of each line at its end, moved apart where they would touch.
function drawEndLabels(svg, ends, x, y, choice) {
  const least = 15;
  let free = -Infinity;
  for (const {series, point} of ends.filter(({point}) => point).sort((a, b) => b.point.y - a.point.y)) {
    const at = Math.max(y(point.y), free + least);
    free = at;
    svg.append("text").attr("class", "end-label").attr("x", x(point.x) + 10).attr("y", at + 4).attr("fill", choice.lookOf(series.label).color).text(series.label);
  }
}

function hoverLines(box, svg, panel, shown, x, y, isShown) {
  const tip = box.tip;
  const all = shown.flatMap((series) => series.points.filter(isShown).map((point) => ({series, point})));
  const node = svg.node();
  node.addEventListener("pointerleave", () => tip.hide());
  node.addEventListener("pointermove", (event) => {
    const {left, top, width} = node.getBoundingClientRect();
    const scale = node.viewBox.baseVal.width / width;
    const [px, py] = [(event.clientX - left) * scale, (event.clientY - top) * scale];
    const away = ({point}) => Math.hypot(x(point.x) - px, y(point.y) - py);
    if (all.length === 0) return;
    const {series, point} = all.reduce((best, next) => (away(next) < away(best) ? next : best));
    tip.show(x(point.x), y(point.y), `${series.label}, ${panel.x} ${numberText(point.x)}: ${intervalText(panel, point)}`);
  });
}

/// A label cut to the room that it has; the tip of its mark has it whole.
function fitted(label, room) {
  const most = Math.floor(room / 6.6);
  return label.length > most ? `${label.slice(0, most - 1)}…` : label;
}

function drawDots(box, panel, choice) {
  const width = Math.max(260, box.clientWidth);
  const isNarrow = width < 560;
  const labels = [...new Set(panel.rows.map((row) => row.label))];
  const step = isNarrow ? 40 : 26;
  const longest = d3.max(labels, (label) => label.length) * 6.9 + 16;
  const [left, right, top] = [isNarrow ? 8 : Math.min(longest, width * 0.5), width - 16, 6];
  const bottom = top + step * labels.length;
  const height = bottom + 40;
  const svg = newSvg(box, width, height, panel.name);
  const {reference} = panel;
  const values = panel.rows.flatMap((row) => [row.value, ...endsOf(panel, row)]).concat(reference ? [reference.high] : []);
  const x = valueScale(values, panel.log, [left + 6, right - 6]);
  const ticks = ticksOf(x, panel.log);
  svg.append("g").selectAll("line").data(ticks).enter().append("line").attr("class", "grid")
    .attr("x1", x).attr("x2", x).attr("y1", top).attr("y2", bottom);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`)
    .call(d3.axisBottom(x).tickValues(ticks).tickFormat(tickFormat(panel)).tickSize(0).tickPadding(6)).select(".domain").remove();
  svg.append("text").attr("class", "axis-label").attr("x", (left + right) / 2).attr("y", height - 4)
    .attr("text-anchor", "middle").text(panel.x);
  if (reference && isFinite(reference.value)) drawReference(svg, x, reference, top, bottom);
  for (const [index, label] of labels.entries()) {
    const y = top + step * (index + (isNarrow ? 0.72 : 0.5));
    svg.append("text").attr("x", isNarrow ? left : left - 8).attr("y", isNarrow ? y - 15 : y + 4)
      .attr("text-anchor", isNarrow ? "start" : "end").text(fitted(label, isNarrow ? right - left : left - 8));
    const rows = panel.rows.filter((row) => row.label === label && choice.has(row.series));
    const apart = Math.min(6, (isNarrow ? 14 : 18) / rows.length);
    rows.forEach((row, i) => {
      const look = row.series ? choice.lookOf(row.series) : toneLooks[row.tone] ?? floatLook;
      drawDot(box, svg, panel, x, row, y + (i - (rows.length - 1) / 2) * apart, look);
    });
  }
}

function drawReference(svg, x, reference, top, bottom) {
  svg.append("rect").attr("class", "reference-band").attr("x", x(reference.low)).attr("y", top)
    .attr("width", Math.max(1, x(reference.high) - x(reference.low))).attr("height", bottom - top);
  svg.append("line").attr("class", "reference").attr("x1", x(reference.value)).attr("x2", x(reference.value))
    .attr("y1", top).attr("y2", bottom);
}

function drawDot(box, svg, panel, x, row, y, style) {
  if (!isFinite(row.value) || (panel.log && row.value <= 0)) return;
  const name = [row.label, row.series].filter(Boolean).join(", ");
  const group = svg.append("g").attr("class", "dot").attr("data-label", row.label);
  if (isFinite(row.low))
    group.append("line").attr("class", "interval").attr("stroke", style.color)
      .attr("x1", within(x, row.low)).attr("x2", within(x, row.high)).attr("y1", y).attr("y2", y);
  group.append("path").attr("class", "point").attr("transform", `translate(${x(row.value)},${y})`)
    .attr("fill", style.color).attr("d", symbolPath(style, 62));
  group.on("pointerleave", () => box.tip.hide())
    .on("pointerenter", () => box.tip.show(x(row.value), y, `${name}: ${intervalText(panel, row)}`));
}
