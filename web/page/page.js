// SPDX-License-Identifier: Apache-2.0
// The page: a board, the formats that think about it, and what they make of it.
const kFormats = [
  {label: "as in the file", weights: "", activations: ""},
  {label: "float32", weights: "none", activations: "none"},
  {label: "int8, a scale a row", weights: "int8/channel", activations: "int8/token"},
  {label: "mxint4, a scale for 32", weights: "mxint4,window=4", activations: "mxint4,window=4"},
  {label: "int4, a scale a tensor", weights: "int4/tensor", activations: "int4/tensor"},
  {label: "int4, a scale a row", weights: "int4/channel", activations: "int4/token"},
  {label: "mxfp4, a scale for 32", weights: "mxfp4", activations: "mxfp4"},
];
const kNone = "none";
const kDifficulties = {
  sudoku: [["easy", [null, 0, 8]], ["usual", [1, 4, null]], ["hard", [5, null, null]]],
  maze: [["short", [4, 30, null]], ["long", [30, null, null]]],
};
const kPlaces = 4;
const kKernels = {wasm_relaxed: "relaxed vectors", wasm_simd: "vectors", portable: "no vectors in this browser, so slowly"};

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const thinker = new Thinker(data.worker);
const page = {
  task: null, info: null, board: null, cells: [], columns: [], shown: 0, steps: 16, timer: null, isCounting: false, isStopped: false, wishes: 0,
  brush: null, chosen: null,
};

function say(text) {
  $("message").textContent = text;
  $("message").hidden = text === "";
}

/// Runs what may fail; the page says what is wrong and goes on.
const guarded = (body) => async (...inputs) => {
  try {
    say("");
    await body(...inputs);
  } catch (error) {
    say(error.message);
  }
};

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const unzipped = async (bytes) => {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

const lineOf = (tokens) => Array.from(tokens, (token) => (isSudoku(page.task) && token <= 1 ? "." : page.task.alphabet[token])).join("");
const difficulty = () => kDifficulties[page.task.name]?.[$("difficulty").selectedIndex]?.[1] ?? [];

// The board.

/// The tab key reaches one cell, from which arrows lead to the others.
function drawEditor() {
  const classes = (index) => [page.cells[index] > 1 ? "given" : "", index === page.chosen ? "chosen" : ""].join(" ").trim();
  drawBoard($("editor"), page.task, page.cells, classes, (index) => {
    const cell = element("button", {type: "button", tabIndex: index === 0 ? 0 : -1});
    cell.addEventListener("keydown", (event) => editKey(event, index));
    // Not every browser moves the focus to a button that a finger has pressed.
    for (const type of ["focus", "click"]) cell.addEventListener(type, () => choose(index));
    return cell;
  });
  const side = sideOf(page.cells.length);
  Array.from($("editor").children).forEach((cell, index) =>
    cell.setAttribute("aria-label", `row ${Math.floor(index / side) + 1}, column ${(index % side) + 1}: ${nameOf(page.task, page.cells[index])}`));
  $("editor").setAttribute("aria-label", isSudoku(page.task) ? "Board: arrows move, digits fill" : "Maze: arrows move, # and space draw, s and g put the ends");
}

function choose(index) {
  page.chosen = index;
  Array.from($("editor").children).forEach((cell, other) => {
    cell.tabIndex = other === index ? 0 : -1;
    cell.classList.toggle("chosen", other === index);
  });
}

/// What fingers press in the place of keys: digits for the chosen cell of a Sudoku, and a button that empties it.
function drawPad() {
  $("pad").hidden = !isSudoku(page.task);
  const digits = Array.from({length: sideOf(page.info.cells)}, (_, index) => `${index + 1}`);
  $("pad").replaceChildren(...[...digits, ""].map((digit) => {
    const button = element("button", {type: "button", ariaLabel: digit === "" ? "Empty the cell" : `Put ${digit}`}, digit || "⌫");
    button.addEventListener("click", () => page.chosen !== null && putDigit(page.chosen, digit));
    return button;
  }));
}

/// A digit, or none, as a token of a cell.
function putDigit(index, digit) {
  const token = digit === "" ? blank() : page.task.alphabet.indexOf(digit);
  if (token > 0) setCell(index, token);
}

const setCell = guarded(async (index, token) => {
  page.cells[index] = token;
  drawEditor();
  await useLine(lineOf(page.cells), {keepsEditor: true});
});

// Mazes are drawn: a press turns floor into wall or back, and so do all cells that the pointer then passes; S and G
// follow it.

const mazeToken = (character) => page.task.alphabet.indexOf(character);

/// Puts a token into a cell. There is one S and one G, which leave floor behind and are not painted over.
function putMaze(index, token) {
  const ends = ["S", "G"].map(mazeToken);
  if (ends.includes(page.cells[index])) return;
  if (ends.includes(token)) page.cells = page.cells.map((other) => (other === token ? mazeToken(" ") : other));
  page.cells[index] = token;
  drawEditor();
}

const cellAt = (event) => {
  const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest("#editor > *");
  return cell ? [...$("editor").children].indexOf(cell) : -1;
};

const endStroke = guarded(async () => {
  page.brush = null;
  await useLine(lineOf(page.cells), {keepsEditor: true});
});

function listenToStrokes() {
  $("editor").addEventListener("pointerdown", (event) => {
    const index = cellAt(event);
    if (isSudoku(page.task) || index < 0 || event.button !== 0) return;
    const token = page.cells[index];
    page.brush = token === mazeToken("#") ? mazeToken(" ") : token === mazeToken(" ") ? mazeToken("#") : token;
    if (token !== page.brush) putMaze(index, page.brush);
  });
  document.addEventListener("pointermove", (event) => {
    const index = page.brush === null ? -1 : cellAt(event);
    if (index >= 0 && page.cells[index] !== page.brush) putMaze(index, page.brush);
  });
  for (const type of ["pointerup", "pointercancel"])
    document.addEventListener(type, () => page.brush !== null && endStroke());
}

function editKey(event, index) {
  const side = sideOf(page.cells.length);
  const moves = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -side, ArrowDown: side};
  if (event.key in moves) {
    event.preventDefault();
    $("editor").children[index + moves[event.key]]?.focus();
    return;
  }
  if (!isSudoku(page.task)) {
    const character = {"#": "#", " ": " ", ".": " ", s: "S", g: "G"}[event.key.toLowerCase()];
    if (!character) return;
    event.preventDefault();
    putMaze(index, mazeToken(character));
    endStroke();
    return;
  }
  const character = ["Backspace", "Delete", "0", "."].includes(event.key) ? "" : event.key;
  if (character === "" || /^[1-9]$/.test(character)) putDigit(index, character);
}

async function useLine(line, {keepsEditor = false} = {}) {
  stopPlaying();
  ++page.wishes;
  // A maze may begin with floor, which is a space.
  const board = await thinker.ask("read", {text: isSudoku(page.task) ? line.trim() : line.replace(/[\r\n]/g, "")});
  if (board.input.length !== page.info.cells)
    throw new Error(`board: got ${board.input.length} cells, expected ${page.info.cells}`);
  await useBoard(board, keepsEditor);
}

async function useBoard(board, keepsEditor = false) {
  page.board = board;
  if (!keepsEditor) page.cells = [...board.input];
  drawEditor();
  $("link").textContent = "";
  await think();
}

// Thinking. The worker goes ahead; the page shows its steps one after another.

async function think() {
  if (!page.board) return;
  for (const column of page.columns) column.history = [];
  show(0);
  const {stopped} = await thinker.ask("think", {board: page.board, steps: page.steps}, (step) => {
    page.columns[step.place].history.push({...step, at: performance.now()});
    if (step.place === page.columns.findLastIndex((column) => column.isActive)) show(page.shown);
  });
  // What else was asked meanwhile has the worker now; what is missing is thought when it is to be seen.
  page.isStopped = stopped === true;
}

const stepsReady = () => Math.min(...page.columns.filter((column) => column.isActive).map((column) => column.history.length));

function drawColumn(column) {
  if (!column.isActive || !page.board) return column.grid.replaceChildren();
  const index = Math.min(page.shown, column.history.length);
  column.grid.setAttribute("aria-label", `Board under ${column.label}, step ${index}`);
  const step = column.history[index - 1];
  const before = column.history[index - 2]?.tokens ?? page.board.input;
  const tokens = step?.tokens ?? page.board.input;
  const isWrong = (cell) => isSudoku(page.task) && tokens[cell] !== page.board.label[cell];
  const isChanged = (cell) => tokens[cell] !== before[cell];
  drawBoard(column.grid, page.task, tokens, (cell) => {
    if (isSudoku(page.task) && page.board.input[cell] > 1) return "given";
    if (!step) return "";
    return [isWrong(cell) ? "wrong" : "", isChanged(cell) ? "changed" : ""].join(" ");
  });
  column.state.replaceChildren();
  if (!step) return;
  const counted = (kind) => [...tokens.keys()].filter(kind).length;
  column.grid.setAttribute("aria-label", `Board under ${column.label}, step ${index}: ${counted(isChanged)} cells changed` +
    (isSudoku(page.task) ? `, ${counted(isWrong)} wrong` : ""));
  const verdict = step.solved ? element("span", {className: "solved"}, "solved") : element("span", {className: "not"}, "not solved");
  const stop = step.wantsHalt ? "wants to stop" : "goes on";
  column.state.append(verdict, `, ${stop} (halt signal ${step.haltScore.toFixed(1)})`);
  column.state.title = `${step.ms.toFixed(0)} ms for this step`;
}

function show(step) {
  const ready = stepsReady();
  page.shown = Math.max(0, Math.min(step, Number.isFinite(ready) ? ready : 0));
  $("step").value = page.shown;
  $("step-text").textContent = `${page.shown} of ${page.steps}`;
  page.columns.forEach(drawColumn);
  drawCurves($("curves"), page.columns.filter((column) => column.isActive), page.steps);
}

function stopPlaying() {
  clearInterval(page.timer);
  page.timer = null;
  $("play").textContent = "Play";
}

function play() {
  if (page.timer) return stopPlaying();
  if (!page.board) return;
  if (page.shown >= page.steps) show(0);
  if (page.isStopped && stepsReady() < page.steps) guarded(think)();
  $("play").textContent = "Stop";
  page.timer = setInterval(() => {
    show(page.shown + 1);
    if (page.shown >= page.steps) stopPlaying();
  }, Number($("speed").value));
}

// Formats.

function makeColumn(place) {
  const select = element("select", {ariaLabel: `Number format ${place + 1}`},
    ...kFormats.map(({label}) => element("option", {}, label)), ...(place > 0 ? [element("option", {}, kNone)] : []));
  const grid = element("div", {className: "board"});
  grid.setAttribute("role", "img");
  const state = element("p", {className: "state"});
  const note = element("p", {className: "note"});
  $("formats").append(element("div", {className: "format"}, select, grid, state, note));
  const column = {place, select, grid, state, note, history: [], isActive: false, label: ""};
  select.addEventListener("change", guarded(async () => {
    stopPlaying();
    await loadFormat(column);
    await think();
  }));
  return column;
}

async function loadFormat(column) {
  const format = kFormats[column.select.selectedIndex];
  column.isActive = false;
  column.history = [];
  column.note.textContent = "";
  column.label = format?.label ?? "";
  column.state.replaceChildren();
  const choice = format && {weights: format.weights, activations: format.activations};
  try {
    const {info, memoryBytes} = await thinker.ask("format", {place: column.place, choice});
    if (!format) return;
    column.isActive = true;
    column.note.textContent = [info.native ? "integers" : "simulated", kKernels[info.epilogues] ?? info.epilogues,
      `${(memoryBytes / 2 ** 20).toFixed(0)} MB`].join(", ");
  } catch (error) {
    column.note.textContent = error.message;
  }
}

async function useFile(bytes, name) {
  stopPlaying();
  const {info, task} = await thinker.ask("file", {bytes, tasks: Object.keys(kDifficulties)});
  if (!task || !kDifficulties[task.name]) throw new Error(`${name}: a model for ${info.task}; this page shows sudoku and maze`);
  Object.assign(page, {info, task, steps: info.steps, board: null, chosen: null});
  $("step").max = info.steps;
  $("model").textContent = `${name}: ${info.architecture}, width ${info.width}, ${info.scheme}`;
  $("editor").className = isSudoku(task) ? "board" : "board maze";
  drawPad();
  $("difficulty").replaceChildren(...kDifficulties[task.name].map(([label]) => element("option", {}, label)));
  for (const column of page.columns) await loadFormat(column);
}

// Counting.

/// Wilson's 95 % interval.
function interval(hits, n) {
  const z = 1.959963984540054;
  const share = hits / n;
  const middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const half = z * Math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

function drawTallies(tallies) {
  const percent = (value) => (100 * value).toFixed(0);
  $("tallies").tBodies[0].replaceChildren(...page.columns.filter((column) => column.isActive).map(({place, label}) => {
    const {solved, done} = tallies[place] ?? {solved: 0, done: 0};
    const [low, high] = done > 0 ? interval(solved, done) : [0, 1];
    return element("tr", {}, element("td", {}, label), element("td", {}, `${solved} of ${done}`),
      element("td", {}, `${percent(low)} to ${percent(high)} %`));
  }));
}

const count = guarded(async () => {
  stopPlaying();
  if (page.isCounting) {
    await thinker.ask("stop");
    return;
  }
  page.isCounting = true;
  $("count").textContent = "Stop";
  $("count-note").textContent = "each board until the model stops by itself";
  const seed = crypto.getRandomValues(new Uint32Array(1))[0];
  drawTallies([]);
  try {
    await thinker.ask("count", {boards: 100, seed, values: difficulty(), steps: page.steps}, ({tallies}) => drawTallies(tallies));
  } finally {
    page.isCounting = false;
    $("count").textContent = "Count";
  }
});

// Links: #board=…&formats=1,3

function linkOf() {
  const formats = page.columns.map((column) => column.select.selectedIndex).join(",");
  return `${location.href.split("#")[0]}#${new URLSearchParams({board: lineOf(page.board.input), formats})}`;
}

const share = guarded(async () => {
  if (!page.board) throw new Error("board: there is none to share");
  history.replaceState(null, "", linkOf());
  $("link").textContent = linkOf();
  await navigator.clipboard?.writeText(linkOf()).catch(() => {});
});

function fromLink() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const formats = (parts.get("formats") ?? "").split(",").map(Number);
  page.columns.forEach((column, place) => {
    const wanted = formats[place];
    if (Number.isInteger(wanted) && wanted >= 0 && wanted < column.select.length && parts.has("formats")) column.select.selectedIndex = wanted;
  });
  return parts.get("board");
}

const random = guarded(async () => {
  stopPlaying();
  ++page.wishes;
  const seed = crypto.getRandomValues(new Uint32Array(1))[0];
  await useBoard(await thinker.ask("make", {seed, values: difficulty()}));
});

const openFile = guarded(async (file) => {
  const known = page.board && lineOf(page.board.input);
  const {wishes} = page;
  await useFile(await file.arrayBuffer(), file.name);
  if (page.wishes !== wishes) await think();  // another board was chosen meanwhile
  else await (known ? useLine(known).catch(random) : random());
});

function listen() {
  listenToStrokes();
  $("random").addEventListener("click", random);
  $("clear").addEventListener("click", guarded(async () => {
    const isEnd = (token) => "SG".includes(page.task.alphabet[token]);
    page.cells = page.cells.map((token) => (isSudoku(page.task) ? blank() : isEnd(token) ? token : mazeToken(" ")));
    drawEditor();
    await useLine(lineOf(page.cells));
  }));
  $("paste").addEventListener("change", guarded(async () => {
    if ($("paste").value) await useLine($("paste").value);
  }));
  $("share").addEventListener("click", share);
  $("file").addEventListener("change", () => $("file").files[0] && openFile($("file").files[0]));
  $("play").addEventListener("click", play);
  $("back").addEventListener("click", () => (stopPlaying(), show(page.shown - 1)));
  $("next").addEventListener("click", () => (stopPlaying(), show(page.shown + 1)));
  $("step").addEventListener("input", () => (stopPlaying(), show(Number($("step").value))));
  $("count").addEventListener("click", count);
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const button = {k: "play", j: "back", l: "next"}[event.key];
    if (button) $(button).click();
  });
  for (const type of ["dragover", "dragleave", "drop"])
    document.addEventListener(type, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", type === "dragover");
      if (type === "drop" && event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]);
    });
  window.addEventListener("hashchange", guarded(async () => {
    const line = fromLink();
    for (const column of page.columns) await loadFormat(column);
    if (line) await useLine(line);
  }));
}

const open = guarded(async () => {
  for (let place = 0; place < kPlaces; ++place) page.columns.push(makeColumn(place));
  [0, 4, kFormats.length, kFormats.length].forEach((format, place) => { page.columns[place].select.selectedIndex = format; });
  const line = fromLink();
  listen();
  await thinker.ask("setUp", {engine: await unzipped(bytesOf(data.engine))});
  await useFile(bytesOf(data.model), data.name);
  const sample = line || page.task.sample;
  if (sample) useLine(sample).catch((error) => { say(error.message); return random(); });
  else random();
});
open().finally(() => { document.documentElement.dataset.ready = ""; });
