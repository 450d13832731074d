// SPDX-License-Identifier: Apache-2.0
// The page in a headless Chromium and a headless Firefox, from a file, without a network: node page_test.mjs REFERENCE
// PROGRAM, after scripts/build_web. Leaves with 77 where there is neither, and says which one is missing. With
// SCREENSHOTS=FOLDER it keeps pictures there.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {gunzipSync, gzipSync} from "node:zlib";

import * as chromium from "../report/browser/chromium.mjs";
import * as firefox from "../report/browser/firefox.mjs";
import {compared, firstDifference, formats, model, reference} from "./reference.mjs";

const [program, driftless] = process.argv.slice(2);
const browsers = {chromium: chromium.chromium && chromium.Browser, firefox: firefox.firefox && firefox.Browser};
for (const [name, browser] of Object.entries(browsers))
  if (!browser) console.log(`SKIPPED: ${name} (Debian: ${name === "firefox" ? "firefox-esr" : name})`);
if (!Object.values(browsers).some(Boolean)) process.exit(77);
const folder = mkdtempSync(join(tmpdir(), "driftless-web-"));
const html = join(folder, "page.html");
const made = spawnSync(driftless, ["web", html], {encoding: "utf8"});
assert.equal(made.status, 0, made.stderr);

/// A copy of the page in which `change` has changed the worker's source or the engine.
function changed(name, change) {
  const text = readFileSync(html, "utf8");
  const [whole, json] = /<script id="data" type="application\/json">(.*?)<\/script>/s.exec(text);
  const data = JSON.parse(json);
  change(data);
  const path = join(folder, `${name}.html`);
  writeFileSync(path, text.replace(whole, () => whole.replace(json, () => JSON.stringify(data).replaceAll("<", "\\u003c"))));
  return path;
}

/// The engine with another limit of memory, in pages of 64 KiB.
function limited(engine, pages) {
  const bytes = gunzipSync(Buffer.from(engine, "base64"));
  const number = (at) => {
    let value = 0;
    let size = 0;
    do value += (bytes[at + size] & 127) * 2 ** (7 * size); while (bytes[at + size++] >= 128);
    return {value, end: at + size};
  };
  let at = 8;
  for (let section = number(at + 1); bytes[at] !== 5; section = number(at + 1)) at = section.end + section.value;
  // Size, one memory, a flag that it has a limit, its first size, and the limit, in as many bytes as it has.
  const limit = number(number(at + 1).end + 2).end;
  const {end} = number(limit);
  for (let i = limit; i < end; ++i) bytes[i] = ((pages >> (7 * (i - limit))) & 127) | (i < end - 1 ? 128 : 0);
  return gzipSync(bytes).toString("base64");
}

const $ = (id) => `document.getElementById("${id}")`;
const message = `${$("message")}.textContent`;
const column = (place) => `document.querySelectorAll(".format")[${place}]`;
const stateOf = (place) => `${column(place)}.querySelector(".state").textContent`;
const boardText = (grid) => `[...${grid}.children].map((cell) => cell.textContent || ".").join("")`;
const sample = "8...7.....9...5..3.......16..57....9.3......8..614.5..1...87....2.5...4....2...9.";
const other = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4.";

/// What a page may not do: complain, or ask for anything but itself.
function assertQuiet(page) {
  assert.deepEqual(page.complaints, []);
  const foreign = page.requests.filter((url) => !url.startsWith("file:") && !/^(blob|data):/.test(url));
  assert.deepEqual(foreign, []);
}

async function picture(page, name) {
  if (!process.env.SCREENSHOTS) return;
  writeFileSync(join(process.env.SCREENSHOTS, `${name}.png`), await page.screenshot());
}

const set = (page, id, value, type = "change") =>
  page.evaluate(`(() => { const e = ${id}; e.value = ${JSON.stringify(value)}; e.dispatchEvent(new Event("${type}", {bubbles: true})); })()`);
/// Waits until the first format has thought to the end, or another message stands there.
const thought = (page, step = 16) => page.until(`(${$("step")}.value = 16, page.columns.every((c) => !c.isActive || c.history.length >= ${step}))`);

async function use(page, line) {
  await set(page, $("paste"), line);
  await page.until(`page.board && lineOf(page.board.input) === ${JSON.stringify(line)}`);
  await thought(page, 2);
}

const tests = {
  async "is one small file"() {
    assert.ok(statSync(html).size < 1.6e6, `${statSync(html).size} bytes`);
    const text = readFileSync(html, "utf8");
    assert.match(text, /Content-Security-Policy" content="default-src 'none'/);
    assert.doesNotMatch(text.replaceAll(/"model":"[^"]*"/g, ""), /src="http|@import|url\(http/);
  },

  async "is not made of what it cannot show"() {
    for (const path of ["models/mini-arc.safetensors", "models/demo-sudoku.csv"]) {
      const out = join(folder, "refused.html");
      const {status, stderr} = spawnSync(driftless, ["web", out, "--model", path], {encoding: "utf8"});
      assert.ok(status >= 10 && status < 17, `${path}: ${status} ${stderr}`);
      assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
      assert.ok(!existsSync(out));
    }
  },

  async "opens with a board and solves it"(browser, name) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    assert.equal(await page.evaluate(boardText($("editor"))), sample);
    await use(page, other);
    await page.evaluate(`${$("next")}.click(); ${$("next")}.click()`);
    assert.match(await page.evaluate(stateOf(0)), /^solved, (wants to stop|goes on) \(/);
    assert.match(await page.evaluate(boardText(`${column(0)}.querySelector(".board")`)), /^34681957215263798/);
    assert.match(await page.evaluate(stateOf(1)), /^not solved/);
    await page.evaluate(`${$("back")}.click()`);
    assert.equal(await page.evaluate(`${$("step-text")}.textContent`), "1 of 16");
    assert.ok(await page.evaluate(`document.querySelectorAll("#curves .curve polyline").length`) >= 1);
    await page.evaluate(`${$("next")}.click()`);
    await picture(page, `${name}-light`);
    assert.ok(await page.evaluate(`page.columns.reduce((sum, c) => sum + Number(/(\\d+) MB/.exec(c.note.textContent)?.[1] ?? 0), 0)`) < 64);
    assertQuiet(page);
  },

  // Within a second, in the median of several openings: one alone may meet a busy machine.
  async "has solved a board soon after it opens"(browser, name) {
    const openings = Number(process.env.DRIFTLESS_WEB_OPENINGS ?? 1);
    const times = [];
    while (times.length < openings) {
      const page = await browser.open(html);
      await page.until(`page.columns[0]?.history.some((step) => step.solved)`);
      times.push(await page.evaluate(`page.columns[0].history.find((step) => step.solved).at`));
      await page.evaluate(`thinker.ask("stop").then(() => 0)`);
      assertQuiet(page);
    }
    times.sort((a, b) => a - b);
    const median = (times[(openings - 1) >> 1] + times[openings >> 1]) / 2;
    console.log(`  ${name}: ${median.toFixed(0)} ms, ${times.at(-1).toFixed(0)} at most, of ${openings}`);
    if (openings > 1) assert.ok(median < 1000, `${median} ms`);
  },

  async "takes digits and arrows"(browser) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    await page.click($("clear"));
    await page.until(`page.board.input.every((token) => token === 1)`);
    const label = `document.activeElement.getAttribute("aria-label")`;
    await page.click(`${$("editor")}.children[0]`);
    for (const key of ["5", "ArrowRight", "ArrowDown", "3"]) await page.key(key);
    assert.equal(await page.evaluate(label), "row 2, column 2: 3");
    assert.equal(await page.evaluate(`${$("editor")}.querySelectorAll("[tabindex='0']").length`), 1);
    await page.until(`page.board.input[0] === 6 && page.board.input[10] === 4`);
    await page.key("5");
    await page.until(`!${$("message")}.hidden`);
    assert.match(await page.evaluate(message), /contradictory/);
    await page.key("Backspace");
    await page.until(`${$("message")}.hidden && page.board.input[10] === 1`);
    assert.equal(await page.evaluate(label), "row 2, column 2: empty");
    assertQuiet(page);
  },

  async "takes digits without a keyboard on a phone"(browser) {
    const page = await browser.open(html, {width: 390, height: 844});
    await page.until(`page.board !== null`);
    await page.click($("clear"));
    await page.until(`page.board.input.every((token) => token === 1)`);
    await page.click(`${$("editor")}.children[10]`);
    await page.until(`${$("editor")}.children[10].classList.contains("chosen")`);
    await page.click(`${$("pad")}.children[4]`);
    await page.until(`page.board.input[10] === 6`);
    await page.click(`${$("pad")}.lastChild`);
    await page.until(`page.board.input[10] === 1`);
    assert.equal(await page.evaluate(`${$("pad")}.children.length`), 10);
    assertQuiet(page);
  },

  async "makes boards of the chosen difficulty"(browser) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    await set(page, $("difficulty"), "hard");
    await page.click($("random"));
    await page.until(`lineOf(page.board.input) !== "${sample}"`);
    assert.ok(await page.evaluate(`page.board.rating`) >= 5);
    assertQuiet(page);
  },

  async "has a name for everything that can be used"(browser) {
    const page = await browser.open(html);
    await page.until(`page.board !== null && page.columns[1].history.length > 1`);
    await page.evaluate(`show(2)`);
    assert.match(await page.evaluate(`page.columns[1].grid.getAttribute("aria-label")`), /^Board under int4.* step 2: \d+ cells changed, \d+ wrong$/);
    assert.match(await page.evaluate(`document.querySelector("#curves svg").getAttribute("aria-label")`), /int4, a scale a tensor [\d.]+ at step \d+$/);
    if (!page.names) return;  // the accessibility tree is Chromium's
    for (const {role, name} of await page.names())
      if (["button", "combobox", "textbox", "slider", "group", "image", "link"].includes(role)) assert.notEqual(name, "", role);
    assertQuiet(page);
  },

  async "what is asked ends what was under way, and play goes on"(browser) {
    const page = await browser.open(html);
    await page.until(`page.columns[1].history.length >= 1`);
    await page.click($("count"));
    await page.until(`page.isStopped`);
    const seen = await page.evaluate(`page.columns[1].history.length`);
    assert.ok(seen < 16, `${seen}`);
    await set(page, $("speed"), "60");
    await page.click($("play"));
    await page.until(`!page.isCounting && page.columns[1].history.length > ${seen} && page.shown > 0`);
    assertQuiet(page);
  },

  async "thinks without vectors, and says so"(browser) {
    const plain = changed("plain", (data) => { data.worker = `WebAssembly.validate = () => false;${data.worker}`; });
    const page = await browser.open(plain);
    await page.until(`page.columns[0]?.history.length >= 1`);
    assert.match(await page.evaluate(`page.columns[0].note.textContent`), /^integers, no vectors in this browser, so slowly/);
    assertQuiet(page);
  },

  async "says when there is too little memory, and goes on with what fits"(browser) {
    const page = await browser.open(changed("small", (data) => { data.engine = limited(data.engine, 110); }));
    await page.until(`page.columns[0]?.history.length >= 1`);
    assert.match(await page.evaluate(`page.columns[1].note.textContent`), /memory/);
    assertQuiet(page);
    const none = await browser.open(changed("none", (data) => { data.engine = limited(data.engine, 33); }));
    await none.until(`!${$("message")}.hidden`);
    assert.match(await none.evaluate(message), /memory/);
    assertQuiet(none);
  },

  async "plays, stops and rewinds by key"(browser, name) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    await use(page, other);
    await set(page, $("speed"), "60");
    await page.evaluate(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", bubbles: true}))`);
    await page.until(`page.shown >= 2`);
    await page.evaluate(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", bubbles: true}))`);
    assert.equal(await page.evaluate(`page.timer`), null);
    await page.evaluate(`${$("step")}.value = 0; ${$("step")}.dispatchEvent(new Event("input"))`);
    assert.equal(await page.evaluate(boardText(`${column(0)}.querySelector(".board")`)), other);
    assertQuiet(page);
  },

  async "compares formats, and a link brings them back"(browser, name) {
    const page = await browser.open(html, {dark: true});
    await page.until(`page.board !== null`);
    await page.evaluate(`(() => { const s = page.columns[2].select; s.selectedIndex = 2; s.dispatchEvent(new Event("change")); })()`);
    await page.until(`page.columns[2].isActive`);
    await use(page, other);
    await page.evaluate(`show(2)`);
    await picture(page, `${name}-dark`);
    await page.click($("share"));
    await page.until(`${$("link")}.textContent !== ""`);
    const link = await page.evaluate(`${$("link")}.textContent`);
    assertQuiet(page);
    const again = await browser.open(html);
    await again.evaluate(`location.hash = ${JSON.stringify(link.slice(link.indexOf("#")))}`);
    await again.until(`page.columns[2].isActive && page.board && lineOf(page.board.input) === ${JSON.stringify(other)}`);
    assertQuiet(again);
  },

  async "boards that are none get a message, and the page goes on"(browser, name) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    for (const [line, word] of [["11" + ".".repeat(79), /contradictory/], ["hello", /board/], ["x".repeat(81), /x/]]) {
      await set(page, $("paste"), line);
      await page.until(`!${$("message")}.hidden`);
      assert.match(await page.evaluate(message), word);
      await page.evaluate(`say("")`);
    }
    await page.evaluate(`location.hash = "#board=%3Cimg%20src=x%20onerror=alert(1)%3E"`);
    await page.until(`!${$("message")}.hidden`);
    assert.equal(await page.evaluate(`document.querySelectorAll("#message *").length`), 0);
    await use(page, other);
    assert.equal(await page.evaluate(`${$("message")}.hidden`), true);
    assertQuiet(page);
  },

  async "a model file that is dropped is used, another is refused"(browser, name) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    const drop = (bytes, name) => page.evaluate(`(() => { const bytes = Uint8Array.from(atob("${Buffer.from(bytes).toString("base64")}"), (c) => c.charCodeAt(0));
      const data = new DataTransfer(); data.items.add(new File([bytes], ${JSON.stringify(name)}));
      document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true})); })()`);
    for (const bytes of [readFileSync(model).subarray(0, 5000), Buffer.from("no model"), Buffer.alloc(0)]) {
      await page.evaluate(`say("")`);
      await drop(bytes, "<b>cut.safetensors");
      await page.until(`!${$("message")}.hidden`);
      assert.match(await page.evaluate(message), /model:/);
    }
    // A model of a task that the page does not show; the one before it goes on.
    const foreign = readFileSync("models/sudoku-micro.safetensors").toString("latin1").replace("sudoku", "puzzle");
    await page.evaluate(`say("")`);
    await drop(Buffer.from(foreign, "latin1"), "<b>foreign.safetensors");
    await page.until(`!${$("message")}.hidden`);
    assert.equal(await page.evaluate(message), "<b>foreign.safetensors: a model for puzzle; this page shows sudoku and maze");
    await use(page, other);
    assert.equal(await page.evaluate(`${$("message")}.hidden`), true);
    await drop(readFileSync(model), "<b>mine.safetensors");
    await page.until(`${$("model")}.textContent.startsWith("<b>mine")`);
    assert.equal(await page.evaluate(`document.querySelectorAll("#model *").length`), 0);
    await use(page, sample);
    assertQuiet(page);
  },

  async "counts boards until it is told to stop"(browser, name) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    await page.click($("count"));
    await page.until(`/of [1-9]/.test(${$("tallies")}.textContent)`);
    await page.click($("count"));
    await page.until(`!page.isCounting`);
    const text = await page.evaluate(`${$("tallies")}.tBodies[0].textContent`);
    assert.match(text, /as in the file\d+ of \d+\d+ to \d+ %/);
    assertQuiet(page);
  },

  async "draws mazes, and says where no way leads"(browser, name) {
    const maze = join(folder, "maze.html");
    const made = spawnSync(driftless, ["web", maze, "--model", "models/maze-small-mxint4.safetensors"], {encoding: "utf8"});
    assert.equal(made.status, 0, made.stderr);
    const page = await browser.open(maze);
    await page.until(`page.board !== null`);
    const cell = (index) => `${$("editor")}.children[${index}]`;
    // A wall that is no neighbor of the way, and floor around the goal.
    const [wall, goal] = await page.evaluate(`[page.cells.indexOf(mazeToken("#")), page.cells.indexOf(mazeToken("G"))]`);
    await page.click(cell(wall));
    await page.until(`page.cells[${wall}] === mazeToken(" ") && page.board.input[${wall}] === mazeToken(" ")`);
    await page.until(`page.columns[0].history.length >= 1`);
    await picture(page, `${name}-maze`);
    // A finger draws through two walls; a stroke that the browser takes for itself has ended.
    const touch = (...events) => page.evaluate(`for (const [type, index] of ${JSON.stringify(events)}) {
      const cell = ${cell("index")};
      cell.scrollIntoView({block: "center"});
      const {left, top, width, height} = cell.getBoundingClientRect();
      cell.dispatchEvent(new PointerEvent(type, {bubbles: true, pointerType: "touch", clientX: left + width / 2, clientY: top + height / 2}));
    }`);
    const first = await page.evaluate(`(() => { const side = sideOf(page.cells.length); const isWall = (index) => page.cells[index] === mazeToken("#");
      return page.cells.findIndex((_, index) => index % side < side - 1 && isWall(index) && isWall(index + 1)); })()`);
    assert.ok(first >= 0);
    await touch(["pointerdown", first], ["pointermove", first + 1], ["pointerup", first + 1]);
    await page.until(`page.brush === null && [${first}, ${first + 1}].every((index) => page.board.input[index] === mazeToken(" "))`);
    await touch(["pointerdown", first], ["pointercancel", first]);
    await page.until(`page.brush === null && page.board.input[${first}] === mazeToken("#")`);
    assert.ok(await page.evaluate(`${$("pad")}.hidden`));
    await page.evaluate(`(() => { const side = sideOf(page.cells.length);
      for (const step of [-1, 1, -side, side]) if (page.cells[${goal} + step] === mazeToken(" ")) putMaze(${goal} + step, mazeToken("#"));
      return endStroke(); })()`);
    await page.until(`!${$("message")}.hidden`);
    assert.match(await page.evaluate(message), /no way leads/);
    assertQuiet(page);
  },

  async "a report runs boards that were not recorded"(browser, name) {
    const trace = join(folder, "trace.json");
    const report = join(folder, "report.html");
    // Schemes of a trace without float: distances are from a float model all the same.
    const runs = [["trace", "models/sudoku-small.safetensors", "--data", "models/demo-sudoku.csv", "--limit", "1", "--steps", "2",
      "--schemes", "mxint4,window=4", "int4/tensor", "int4/tensor/static", "--calibration-boards", "2", "--out", trace],
    ["report", trace, "--live", "models/sudoku-small.safetensors", "--out", report]];
    for (const run of runs) {
      const {status, stderr} = spawnSync(driftless, run, {encoding: "utf8"});
      if (stderr.includes("node-d3")) return console.log(`  SKIPPED: ${stderr.trim()}`);
      assert.equal(status, 0, stderr);
    }
    const recorded = JSON.parse(readFileSync(trace, "utf8")).boards[0];
    const page = await browser.open(report);
    const live = (what) => `document.querySelector(".live ${what}")`;
    await page.until(`${live("input")} !== null`);
    await set(page, live("input"), recorded.input);
    await page.click(live("button"));
    await page.until(`${live("output")}.textContent === "by sudoku-small.safetensors"`);
    const players = `[...document.querySelectorAll(".player .board")]`;
    const got = await page.evaluate(`${players}.map((b) => b.querySelector(".state").textContent)`);
    const outcomes = {e: "solved", w: "wrong"};
    for (const place of [0, 1]) assert.ok(got[place].startsWith(outcomes[recorded.runs[place].outcome.at(-1)]), got[place]);
    // One sum in another order is enough to lead int4 elsewhere; mxint4 comes back.
    const [run] = recorded.runs;
    const divergence = Number(/Divergence ([\d.]+)/.exec(got[0])[1]);
    assert.ok(Math.abs(divergence - run.divergence.at(-1)) <= 0.1 * run.divergence.at(-1), got[0]);
    assert.match(got[2], /^Not run here: this scheme is made from boards beforehand/);
    await picture(page, `${name}-live`);
    await set(page, live("input"), "nothing");
    await page.click(live("button"));
    await page.until(`/board/.test(${live("output")}.textContent) && !/by/.test(${live("output")}.textContent)`);
    await page.click(live("button:last-of-type"));
    await page.until(`document.querySelectorAll(".player option").length === 3`);
    assertQuiet(page);
  },

  async "the package runs as modules, in a page and in a worker"(browser) {
    const think = `const model = await load("/model", {kernels: "wasm_simd"});
      const board = ${JSON.stringify(other)};
      for await (const {step, tokens} of model.solve(board)) if (model.judge(model.read(board), tokens)) return step;`;
    const body = `import {load} from "/src/index.js"; const run = async () => { ${think} };`;
    const texts = {
      "/": `<!doctype html><title>package</title><script type="module">${body}
        document.documentElement.dataset.page = await run();
        new Worker("/worker.js", {type: "module"}).onmessage = ({data}) => { document.documentElement.dataset.worker = data; };
        document.documentElement.dataset.ready = "";</script>`,
      "/worker.js": `${body} postMessage(await run());`,
    };
    const kinds = {js: "text/javascript", wasm: "application/wasm"};
    const server = createServer(({url}, answer) => {
      const path = url === "/model" ? model : join("web", new URL(url, "http://web").pathname);
      const found = url in texts || existsSync(path);
      answer.writeHead(found ? 200 : 404, {"Content-Type": kinds[url.split(".").pop()] ?? "text/html"});
      answer.end(url in texts ? texts[url] : found ? readFileSync(path) : "");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const page = await browser.open(new URL(`http://127.0.0.1:${server.address().port}/`));
      await page.until(`document.documentElement.dataset.worker !== undefined`);
      assert.deepEqual(await page.evaluate(`[document.documentElement.dataset.page, document.documentElement.dataset.worker]`), ["2", "2"]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },

  async "fits a phone"(browser, name) {
    const page = await browser.open(html, {width: 390, height: 844});
    await page.until(`page.board !== null`);
    await use(page, other);
    await page.evaluate(`show(2)`);
    assert.ok(await page.evaluate(`document.documentElement.scrollWidth <= 390`), "wider than the screen");
    await picture(page, `${name}-phone`);
    assertQuiet(page);
  },

  async "every step has the CPU's bits under every kernel set"(browser) {
    const page = await browser.open(html);
    await page.until(`page.board !== null`);
    const bytes = readFileSync(model).toString("base64");
    for (const [name, choice] of Object.entries(formats)) {
      const expected = reference(program, choice, compared);
      // The page's own worker script, with the comparison in the place of its questions.
      const results = await page.evaluate(`new Promise(async (resolve) => {
        const code = data.worker + ";self.onmessage = async ({data: d}) => (" + ${JSON.stringify(`async (bytes, choice, expected, module) => {
          const difference = ${firstDifference};
          const results = [];
          for (const variant of runnableVariants().filter((one) => one !== "plain")) {
            const thinker = await Model.create(await compileEngine(variant, module), bytes, choice);
            results.push({variant, kernels: thinker.info.kernels, difference: difference(thinker, expected)});
          }
          postMessage(results);
        }`)} + ")(d.bytes, d.choice, d.expected, d.module)";
        const worker = new Worker(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
        worker.onmessage = ({data}) => resolve(data);
        worker.postMessage({bytes: bytesOf("${bytes}"), choice: ${JSON.stringify(choice)}, expected: ${JSON.stringify(expected)},
          module: await unzipped(bytesOf(data.engine))});
      })`);
      assert.equal(results.at(-1).kernels, "wasm_simd");
      if (results.length < 2) console.log("  SKIPPED: this browser has no relaxed vectors that compute rightly");
      for (const {variant, kernels, difference} of results) {
        assert.equal(difference, null, `${name}, ${variant}`);
        console.log(`  ${name}, ${variant} (${kernels}): ${expected.length} boards`);
      }
    }
    assertQuiet(page);
  },
};

async function runTests(name, browser) {
  let failed = 0;
  for (const [title, test] of Object.entries(tests)) {
    if (!title.includes(process.env.ONLY ?? "")) continue;
    const begin = Date.now();
    const pages = [];
    const open = async (...inputs) => {
      pages.push(await browser.open(...inputs));
      return pages.at(-1);
    };
    try {
      await test({open}, name);
      console.log(`ok: ${name}: ${title} (${Date.now() - begin} ms)`);
    } catch (error) {
      ++failed;
      console.log(`FAILED: ${name}: ${title}: ${error.stack}`);
    }
    for (const page of pages) await page.close();  // with its worker
  }
  return failed;
}

let failed = 0;
for (const [name, Browser] of Object.entries(browsers)) {
  if (!Browser) continue;
  const browser = await Browser.start();
  try {
    failed += await runTests(name, browser);
  } finally {
    await browser.stop();
  }
}
rmSync(folder, {recursive: true});
process.exit(failed === 0 ? 0 : 1);
