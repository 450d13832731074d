// The third mark: a heat map, rows by columns, on a scale that all panels of a figure share.

/// cividis, which reads the same with and without color vision, on a log scale; for signed values
/// purple to orange around zero.
function heatScale(panels) {
  const values = panels.flatMap((panel) => panel.values.flat()).filter(isFinite);
  if (panels[0].diverging) {
    const most = d3.max(values, Math.abs) || 1;
    return {color: d3.scaleSequential(d3.interpolatePuOr).domain([most, -most]), low: -most, high: most};
  }
  const positive = values.filter((value) => value > 0);
  const [low, high] = positive.length > 0 ? d3.extent(positive) : [0.1, 1];
  const scale = d3.scaleSequentialLog(d3.interpolateCividis).domain(low < high ? [low, high] : [low / 2, high * 2]);
  return {color: (value) => (value > 0 ? scale(value) : scale(low)), low, high};
}

/// "0.mlp.down" of "L_level.layers.0.mlp.down_proj.weight".
const layerText = (name) => name.replace(/^L_level\.(layers\.)?/, "").replace(/(_proj)?\.weight$/, "");

function drawHeat(box, panel) {
  const width = Math.max(260, box.clientWidth);
  const {rows, columns, values} = panel;
  const left = Math.min(d3.max(rows, (row) => layerText(row).length) * 6.7 + 10, width * 0.48);
  const cell = {width: (width - left - 4) / columns.length, height: 17};
  const top = 4;
  const bottom = top + cell.height * rows.length;
  const svg = newSvg(box, width, bottom + 62, panel.name);
  const {color, low, high} = panel.scale;
  rows.forEach((row, r) => {
    svg.append("text").attr("x", left - 6).attr("y", top + cell.height * (r + 0.72)).attr("text-anchor", "end").text(fitted(layerText(row), left - 6));
    values[r].forEach((value, c) => {
      const mark = svg.append("rect").attr("class", "heat").attr("x", left + cell.width * c).attr("y", top + cell.height * r)
        .attr("width", Math.max(0.5, cell.width - 0.6)).attr("height", cell.height - 0.6)
        .attr("fill", isFinite(value) ? color(value) : "none");
      mark.on("pointerleave", () => box.tip.hide()).on("pointerenter", () =>
        box.tip.show(left + cell.width * c, top + cell.height * r, `${row}, call ${columns[c]}: ${numberText(value)}`));
    });
  });
  const stride = Math.ceil(columns.length / Math.max(1, Math.floor((width - left) / 30)));
  columns.forEach((column, c) => {
    if (c % stride === 0)
      svg.append("text").attr("class", "axis-label").attr("x", left + cell.width * (c + 0.5)).attr("y", bottom + 14)
        .attr("text-anchor", "middle").text(column);
  });
  svg.append("text").attr("class", "axis-label").attr("x", (left + width) / 2).attr("y", bottom + 30)
    .attr("text-anchor", "middle").text(panel.x);
  drawHeatKey(svg, panel, {left, right: width - 4, y: bottom + 38}, low, high);
}

function drawHeatKey(svg, panel, place, low, high) {
  const parts = 40;
  const at = (share) => (panel.diverging ? low + share * (high - low) : low * (high / low) ** share);
  const span = Math.min(160, place.right - place.left - 120);
  const start = (place.left + place.right - span) / 2;
  for (const i of d3.range(parts))
    svg.append("rect").attr("x", start + (span * i) / parts).attr("y", place.y).attr("width", span / parts + 0.5)
      .attr("height", 9).attr("fill", panel.scale.color(at((i + 0.5) / parts)));
  const text = (x, anchor, value) => svg.append("text").attr("class", "axis-label").attr("x", x).attr("y", place.y + 9)
    .attr("text-anchor", anchor).text(numberText(Number(value.toPrecision(2))));
  text(start - 5, "end", low);
  text(start + span + 5, "start", high);
}
