// SPDX-License-Identifier: Apache-2.0
// How far each format's state lies from the first one's, step by step, on a logarithmic axis.
const kColors = ["#0b62b8", "#c2571a", "#1b7f3b", "#8a3ab9"];

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
  const drawn = lines.map((column) => {
    const points = column.history.filter((step) => step.distance !== null);
    const last = points[points.length - 1];
    const color = kColors[column.place];
    return svg("g", {class: "curve"},
      svg("polyline", {fill: "none", stroke: color, "stroke-width": 2.5, points: points.map((p) => `${x(p.step)},${y(p.distance)}`).join(" ")}),
      svg("text", {x: x(last.step) + 6, y: y(last.distance) + 4}, column.label));
  });
  const title = `Relative distance of the state from that of “${columns[0].label}”, by step`;
  place.replaceChildren(svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title},
    ...marks, ...drawn, svg("text", {x: 44, y: height - 6}, title)));
}
