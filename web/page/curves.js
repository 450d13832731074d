// SPDX-License-Identifier: Apache-2.0
// How far each format's state lies from the first one's, step by step, on a logarithmic axis.
const kLabelHeight = 14;

/// Moves labels down until none covers another.
function spread(labels) {
  let free = 0;
  for (const label of labels.sort((a, b) => a.y - b.y)) {
    label.y = Math.max(label.y, free);
    free = label.y + kLabelHeight;
  }
}

function drawCurves(place, columns, steps) {
  const svg = (name, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const lines = columns.filter((column) => column.history.some((step) => step.distance !== null));
  if (lines.length === 0) return place.replaceChildren();
  const width = 640;
  const height = 220;
  const least = 1e-7;
  const x = (step) => 44 + ((step - 1) / Math.max(1, steps - 1)) * (width - 180);
  const y = (value) => 20 + (Math.log10(1) - Math.log10(Math.min(1, Math.max(least, value)))) / 7 * (height - 50);
  const marks = [0, -2, -4, -6].map((power) => svg("g", {},
    svg("line", {x1: 44, x2: width - 136, y1: y(10 ** power), y2: y(10 ** power), stroke: "currentColor", "stroke-opacity": .15}),
    svg("text", {x: 40, y: y(10 ** power) + 4, "text-anchor": "end"}, power === 0 ? "1" : `1e${power}`)));
  const curves = lines.map(({place: number, label, history}) => {
    const points = history.filter((step) => step.distance !== null);
    const last = points[points.length - 1];
    return {label, last, points, color: `var(--line-${number})`, x: x(last.step) + 6, y: y(last.distance) + 4};
  });
  spread(curves);
  const drawn = curves.map((curve) => svg("g", {class: "curve"},
    svg("polyline", {fill: "none", stroke: curve.color, "stroke-width": 2.5,
      points: curve.points.map((point) => `${x(point.step)},${y(point.distance)}`).join(" ")}),
    svg("text", {x: curve.x, y: curve.y, fill: curve.color}, curve.label)));
  const title = `Relative distance of the state from that of “${columns[0].label}”, by step`;
  const values = curves.map(({label, last}) => `${label} ${last.distance.toPrecision(2)} at step ${last.step}`).join("; ");
  place.replaceChildren(svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${values}`},
    ...marks, ...drawn, svg("text", {x: 44, y: height - 6}, title)));
}
