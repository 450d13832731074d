// SPDX-License-Identifier: Apache-2.0
// Boards as grids of cells. Texts from files become text nodes, never markup.
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const sideOf = (cells) => Math.round(Math.sqrt(cells));
const isSudoku = (task) => task.name === "sudoku";
/// The token that an empty cell has.
const blank = () => 1;

function shown(task, token) {
  if (isSudoku(task)) return token <= 1 ? "" : task.alphabet[token];
  return "SG".includes(task.alphabet[token]) ? task.alphabet[token] : "";
}

/// A cell in words.
function nameOf(task, token) {
  return shown(task, token) || {"#": "wall", " ": "floor", o: "way"}[task.alphabet[token]] || "empty";
}

function kindOf(task, token) {
  if (isSudoku(task)) return "";
  return {"#": "wall", o: "path", S: "start", G: "goal"}[task.alphabet[token]] ?? "";
}

/// Fills `grid` with one cell a token; classes say what each is.
function drawBoard(grid, task, tokens, classes = () => "", makeCell = () => element("span")) {
  const side = sideOf(tokens.length);
  const box = Math.round(Math.sqrt(side));
  if (grid.childElementCount !== tokens.length) {
    grid.replaceChildren(...Array.from(tokens, (_, index) => makeCell(index)));
    grid.style.gridTemplate = `repeat(${side}, minmax(0, 1fr)) / repeat(${side}, minmax(0, 1fr))`;
    grid.style.setProperty("--size", side > 12 ? "8px" : "clamp(10px, 3.2cqw, 18px)");
  }
  Array.from(grid.children).forEach((cell, index) => {
    const row = Math.floor(index / side);
    const column = index % side;
    cell.textContent = shown(task, tokens[index]);
    const lines = isSudoku(task)
      ? [column % box === box - 1 && column < side - 1 ? "right" : "", row % box === box - 1 && row < side - 1 ? "below" : ""]
      : [];
    cell.className = [kindOf(task, tokens[index]), classes(index), ...lines].filter(Boolean).join(" ");
  });
}
