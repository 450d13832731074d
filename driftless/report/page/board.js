// One board of a trace as a picture.

const mazeInk = {"#": "var(--quiet)", " ": "var(--paper)", S: "var(--series-2)", G: "var(--series-3)", o: "var(--series-0)"};
const arcInk = ["#000000", "#0074d9", "#ff4136", "#2ecc40", "#ffdc00", "#aaaaaa", "#f012be", "#ff851b", "#7fdbff", "#870c25"];

/// How a task's characters look: as letters on paper, or as colored squares; which of a question are given. Tasks
/// without a row here get the plain look.
const boardLooks = {
  sudoku: {box: 3, letter: (c) => (c === "." ? "" : c), ink: () => "var(--paper)", isGiven: (c) => c !== "."},
  maze: {letter: (c) => ("SG".includes(c) ? c : ""), ink: (c) => mazeInk[c] ?? "var(--paper)"},
  arc: {letter: () => "", ink: (c) => arcInk[c] ?? "var(--paper)"},
};
boardLooks["mini-arc"] = boardLooks.arc;
const plainLook = {letter: (c) => c, ink: () => "var(--paper)"};

/// The share that a base-36 digit stands for.
const confidenceOf = (digit) => parseInt(digit, 36) / 35;

/// A cell counts if its label is not the pad, the first character of the alphabet.
function wrongCells(trace, board, answer) {
  const [pad] = trace.alphabet;
  return [...board.label].map((label, i) => label !== pad && label !== answer[i]);
}

/// The answer after a step; "" stands for the one before.
function answerAt(run, step) {
  for (let s = step; s >= 0; --s) if (run.answers[s] !== "") return run.answers[s];
  return "";
}

const cellSize = 20;

function drawBoard(svg, trace, board, run, step) {
  const look = boardLooks[trace.task] ?? plainLook;
  const side = Math.ceil(Math.sqrt(board.input.length));
  const answer = answerAt(run, step);
  const wrong = wrongCells(trace, board, answer);
  const [pad] = trace.alphabet;
  const cells = d3.range(board.input.length).filter((i) => board.label[i] !== pad || board.input[i] !== pad).map((i) => ({
    x: (i % side) * cellSize, y: Math.floor(i / side) * cellSize, text: answer[i],
    isWrong: wrong[i],
    isGiven: look.isGiven?.(board.input[i]) ?? false,
    confidence: confidenceOf(run.confidence[step][i]),
  }));
  // Cells that are padding in question and answer are left out, and so is the rest of the canvas around the others.
  const [left, top] = [d3.min(cells, (c) => c.x) ?? 0, d3.min(cells, (c) => c.y) ?? 0];
  const [width, height] = [(d3.max(cells, (c) => c.x) ?? 0) + cellSize - left, (d3.max(cells, (c) => c.y) ?? 0) + cellSize - top];
  svg.attr("viewBox", `${left - 1} ${top - 1} ${width + 2} ${height + 2}`).selectAll("*").remove();
  const groups = svg.selectAll("g.cell").data(cells).enter().append("g")
    .attr("class", (c) => `cell${c.isWrong ? " wrong" : ""}${c.isGiven ? " given" : ""}`)
    .attr("transform", (c) => `translate(${c.x},${c.y})`);
  groups.append("rect").attr("width", cellSize).attr("height", cellSize)
    .attr("fill", (c) => look.ink(c.text)).attr("stroke", "var(--line)").attr("stroke-width", 0.5);
  // Doubt is shade: the surer, the clearer.
  groups.append("rect").attr("width", cellSize).attr("height", cellSize).attr("fill", "var(--series-4)")
    .attr("opacity", (c) => 0.55 * (1 - c.confidence));
  groups.append("text").attr("x", cellSize / 2).attr("y", cellSize / 2 + 0.5).text((c) => look.letter(c.text));
  groups.filter((c) => c.isWrong).append("path").attr("class", "cross").attr("fill", "none").attr("stroke-width", width > 12 * cellSize ? 5 : 2)
    .attr("d", `M2,2H${cellSize - 2}V${cellSize - 2}H2Z`);
  if (look.box) drawBoxes(svg, side, look.box);
  return {wrong: wrong.filter(Boolean).length, counted: [...board.label].filter((label) => label !== pad).length};
}

function drawBoxes(svg, side, box) {
  const end = side * cellSize;
  for (const i of d3.range(0, side + 1, box))
    svg.append("path").attr("d", `M${i * cellSize},0V${end}M0,${i * cellSize}H${end}`).attr("stroke", "var(--ink)").attr("stroke-width", 1.4);
}
