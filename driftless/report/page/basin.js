// The fourth mark: paths in the plane that holds most of the trajectories, from a trace.

function drawPlane(box, panel, choice) {
  const width = Math.max(260, box.clientWidth);
  const height = Math.min(460, Math.max(260, width * 0.62));
  const [left, right, top, bottom] = [52, width - 10, 10, height - 38];
  const svg = newSvg(box, width, height, panel.name);
  const everywhere = panel.series.flatMap((series) => [series.points, ...series.paths].flat());
  const room = (values, range) => d3.scaleLinear().domain(d3.extent([...values, 0])).nice(5).range(range);
  const x = room(everywhere.map((p) => p.x), [left + 6, right - 6]);
  const y = room(everywhere.map((p) => p.y), [bottom, top]);
  drawValueAxis(svg, panel, y, false, left, right);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`)
    .call(d3.axisBottom(x).ticks(5).tickFormat(tickFormat({})).tickSize(4));
  svg.append("text").attr("class", "axis-label").attr("x", (left + right) / 2).attr("y", height - 4)
    .attr("text-anchor", "middle").text(panel.x);
  const line = d3.line().x((p) => x(p.x)).y((p) => y(p.y));
  for (const series of panel.series.filter(({label}) => choice.has(label))) {
    const style = choice.lookOf(series.label);
    const group = svg.append("g").attr("class", "series").attr("data-label", series.label);
    for (const path of series.paths)
      group.append("path").attr("class", "line faint").attr("stroke", style.color).attr("d", line(path));
    group.append("path").attr("class", "line").attr("stroke", style.color).attr("stroke-dasharray", style.dash).attr("d", line(series.points));
    group.selectAll("path.point").data(series.points).enter().append("path").attr("class", "point")
      .attr("transform", (p) => `translate(${x(p.x)},${y(p.y)})`).attr("fill", style.color)
      .attr("d", (p, i) => symbolPath(style, i === series.points.length - 1 ? 110 : 26))
      .on("pointerleave", () => box.tip.hide())
      .on("pointerenter", (event, p) => box.tip.show(x(p.x), y(p.y), `${series.label}, step ${p.step}: residual ${numberText(p.residual)}`));
  }
  svg.append("text").attr("class", "attractor").attr("x", x(0)).attr("y", y(0)).attr("text-anchor", "middle").attr("dy", "0.35em").text("★");
}

/// One series a scheme: the mean path over the boards, with those of the boards.
function planePanel({schemes, steps, basin}) {
  const series = schemes.map((scheme, s) => {
    const boards = basin.runs[s];
    const average = (key, i) => d3.mean(boards, (board) => board[key][i]);
    return {
      label: schemeLabel(scheme),
      points: d3.range(steps).map((i) => ({step: i + 1, x: average("x", i), y: average("y", i), residual: average("residual", i)})),
      paths: boards.map((board) => d3.range(steps).map((i) => ({x: board.x[i], y: board.y[i]}))),
    };
  });
  const percent = basin.share.map(percentText);
  return {kind: "plane", title: "mean path of z_L", x: `first direction (${percent[0]}), second upwards (${percent[1]})`, series};
}

const basinFigure = {
  id: "basin", title: "The basin of the float model",
  text: "Distance of z_L from where the float model ends (the star), along the two directions that hold most of it (their shares of the squared distances in brackets); faint lines are single boards, the large mark is the last step. A path that ends at the star has come to the same answer.",
};
