// SPDX-License-Identifier: Apache-2.0
// Reports in a real browser, from a file, without a network: node page_test.mjs PROGRAM
// Leaves with 77 where there is no Chromium or the program was built without d3.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";

import {Browser, chromium} from "./chromium.mjs";
import {arcTrace, bench, claims, hostile, qat, record, records, runs, schemes, trace} from "./samples.mjs";

const program = resolve(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), "driftless-report-"));

function skip(reason) {
  console.log(`skipped: ${reason}`);
  rmSync(folder, {recursive: true});
  process.exit(77);
}

/// A page from lines; texts go into the file as they are.
function report(name, lines) {
  const results = join(folder, `${name}.jsonl`);
  const out = join(folder, `${name}.html`);
  writeFileSync(results, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)) + "\n").join(""));
  const {status, stderr, stdout} = spawnSync(program, ["report", results, "--out", out], {encoding: "utf8"});
  if (stderr.includes("node-d3")) skip(stderr.trim());
  assert.equal(status, 0, stderr);
  return {path: out, stdout, stderr};
}

const all = (selector) => `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
const one = (selector) => `document.querySelector(${JSON.stringify(selector)})`;
const buttonOf = (text) => `${all("button")}.find((b) => b.textContent === ${JSON.stringify(text)})`;

/// What a page may not do: complain, or ask for anything but itself.
function assertQuiet(page) {
  assert.deepEqual(page.complaints, []);
  assert.equal(page.requests.filter((url) => !url.startsWith("file:") && !/^(blob|data):/.test(url)).length, 0, page.requests.join(" "));
}

/// A printed number is the record's, to its last digit: within half a unit of it. A percent is of a hundredfold.
function assertPrinted(text, value) {
  const [, digits, exponent = "0", percent] = /^(-?[\d.]+)(?:e([-+]?\d+))?( %)?$/.exec(text) ?? assert.fail(`no number: ${text}`);
  const decimals = digits.includes(".") ? digits.split(".")[1].length : 0;
  const unit = 10 ** (Number(exponent) - decimals);
  const expected = percent ? 100 * value : value;
  assert.ok(Math.abs(Number(digits) * 10 ** Number(exponent) - expected) <= unit * 0.5000001, `${text} for ${value}`);
}

/// Waits until what has just opened is drawn.
const drawn = (page) => page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");

/// Studies are folded and drawn when they open.
async function openAll(page) {
  await page.evaluate(`${one("#open-all")}.click()`);
  await drawn(page);
}

/// The cells of a figure's table, its rows by the texts of its heads.
async function tableOf(page, id) {
  await page.evaluate(`${one(`#${id}`)}.closest("details").open = true`);
  await drawn(page);
  await page.click(one(`#${id} summary`));
  await page.until(`${one(`#${id} table`)} !== null`);
  return page.evaluate(`(() => { const heads = ${all(`#${id} th`)}.map((h) => h.textContent);
    return ${all(`#${id} tbody tr`)}.map((row) => Object.fromEntries([...row.cells].map((cell, i) => [heads[i], cell.textContent]))); })()`);
}

const tests = {
  async "every figure has its marks"(browser) {
    const {path, stdout} = report("all", [...records, ...qat, bench, trace, ...claims]);
    assert.match(stdout, /0 lines skipped/);
    const page = await browser.open(path);
    await openAll(page);
    const marks = await page.evaluate(`Object.fromEntries(${all("figure")}.map((f) => [f.id, {
      series: f.querySelectorAll("g.series").length, dots: f.querySelectorAll("g.dot").length, points: f.querySelectorAll(".point").length,
      heat: f.querySelectorAll("rect.heat").length, warnings: f.querySelectorAll(".warning").length,
      nan: f.innerHTML.includes("NaN") }]))`);
    const lines = (series, points) => ({series, dots: 0, points, heat: 0, warnings: 0, nan: false});
    const dots = (count) => ({series: 0, dots: count, points: count, heat: 0, warnings: 0, nan: false});
    const heat = {series: 0, dots: 0, points: 0, heat: 4 * 3 * 5, warnings: 0, nan: false};
    assert.deepEqual(marks, {
      "summary-figure": lines(3, 12), ladder: dots(schemes.length), "exponent-rules": dots(4), "low-bits": dots(4),
      contraction: lines(8, 32), accuracy: lines(8, 32), residual: lines(8, 32), direction: lines(4, 16), coherence: lines(8, 32),
      "fixed-point": lines(16, 64), displacement: dots(8), decomposition: dots(4), "layer-error": heat, "layer-bias": heat,
      granularity: dots(4), "granularity-channel": dots(4), outliers: dots(4), "calibration-freshness": dots(4), "calibration-size": dots(4),
      "scale-sharing": dots(4), "channel-weights": dots(4), rollouts: lines(10, 20), "eqr-depth": lines(8, 32), "eqr-breadth": lines(10, 20), "dose-response": lines(4, 8), "depth-precision": lines(4, 8),
      // Before and after of three runs, and the paper's one; two kernels at two shapes on two numbers of threads, twice.
      qat: dots(7), products: dots(16), steps: dots(16), peaks: dots(4), "study-a-study-of-my-own": dots(4), basin: lines(5, 20),
    });
    const said = await page.evaluate(`${one("#contraction .provenance")}.textContent`);
    for (const word of ["n 64", "seed 7", "tiny.safetensors", "mxint4", "driftless study contraction --model tiny.safetensors"]) assert.ok(said.includes(word), said);
    // What is not a default is in the command: records on another device, with other calibration.
    assert.ok((await page.evaluate(`${one("#outliers .provenance code")}.textContent`)).endsWith("--device cuda --dtype bf16 --batch 32 --calibration-boards 32 --calibration-seed 1 --out outliers.jsonl"));
    await page.hover(one("#ladder g.dot .point"));
    assert.match(await page.evaluate(`${one("#ladder .tip")}.textContent`), /^float: 85\.94 %/);
    await page.click(one("#contraction .legend button"));
    assert.equal(await page.evaluate(`${all("#contraction g.series")}.length`), 6);
    await page.click(one("#qat .legend button"));
    assert.equal(await page.evaluate(`${all("#qat g.dot")}.length`), 4);
    assert.match(await page.evaluate(`${one("#qat .provenance")}.textContent`), /seed 1, 2 .*tiny\.safetensors.*driftless qat run-0 driftless qat run-1/);
    assert.match(await page.evaluate(`${one("#products .provenance")}.textContent`), /A processor.*busy with other work.*driftless bench --model models\/tiny\.safetensors/);
    assert.deepEqual(await page.evaluate(`${all(".verdict")}.map((v) => v.textContent)`), ["holds", "not measured yet"]);
    assert.equal(await page.evaluate(`${one("#tally")}.textContent`), "holds: 1 · not measured yet: 1");
    assert.deepEqual(await page.evaluate(`${all(".claims a")}.map((a) => a.getAttribute("href"))`), ["#ladder", "#rollouts"]);
    assertQuiet(page);
    await page.close();
  },

  async "an axis of shares ends at 0 and 100 %, whatever intervals a file has"(browser) {
    const exact = {mean: [0, 0.25, 0.5, 0.75], low: [-0.5, -0.066, 0.2, 0.4], high: [0.3, 0.6, 0.9, 1.24]};
    const lines = [0, 1].map((row) => record({study: "atlas", row, weights: row === 0 ? "none" : "mxint4", change: {exact: {share: 0.5, hits: 32, n: 64, low: -0.5, high: 1.5}}}));
    for (const line of lines) line.steps.exact = line.steps.cells = exact;
    const page = await browser.open(report("axes", lines).path);
    await openAll(page);
    const ticks = (await page.evaluate(`${all("#accuracy .axis .tick text")}.map((t) => t.textContent)`)).filter((text) => text.endsWith("%"));
    assert.deepEqual([...new Set(ticks)], ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
    assert.equal(await page.evaluate(`/NaN/.test(${one("main")}.innerHTML)`), false);
    assertQuiet(page);
    await page.close();
  },

  async "a printed command makes its records again"(browser) {
    const models = join(dirname(fileURLToPath(import.meta.url)), "../../../models");
    const [first, again] = ["first", "again"].map((name) => join(folder, name));
    const run = (cwd, command) => spawnSync("sh", ["-c", command.replace(/^driftless /, `${program} `)], {cwd, encoding: "utf8"});
    for (const cwd of [first, again]) {
      mkdirSync(cwd);
      for (const file of ["sudoku-small.safetensors", "sudoku-small-mxint4.safetensors", "demo-sudoku.csv"]) symlinkSync(join(models, file), join(cwd, file));
      assert.equal(run(cwd, "driftless data generate --count 6 --seed 9 --output calibration.csv").status, 0);
    }
    const ladder = "driftless ladder sudoku-small.safetensors --data demo-sudoku.csv --steps 1";
    const commands = [
      `${ladder} --limit 2 --seed 3 --batch 2 --coverage linear --calibration-data calibration.csv --calibration-boards 3 --calibration-seed 5 --schemes none int8/tensor/static mxint4 --out ladder.jsonl`,
      `${ladder} --limit 1 --native --schemes none mxint4 --out ladder-native.jsonl`,
      `${ladder} --limit 1 --calibration-data demo-sudoku.csv --calibration-boards 64 --calibration-may-overlap --schemes int4/tensor:int8/tensor/static --out ladder-overlap.jsonl`,
      "driftless ladder sudoku-small-mxint4.safetensors --source sudoku-small.safetensors --data demo-sudoku.csv --steps 1 --limit 1 --out ladder-packed.jsonl",
      "driftless study decomposition --model sudoku-small.safetensors --data demo-sudoku.csv --limit 1 --set steps=1 --calibration-boards 2 --out decomposition.jsonl",
    ];
    for (const command of commands) {
      const made = run(first, command);
      if (made.status === 13) return console.log(`  not tried: ${made.stderr.trim()}`);
      assert.equal(made.status, 0, made.stderr);
      const results = command.split(" ").at(-1);
      const out = join(folder, "again.html");
      assert.equal(run(first, `driftless report ${results} --out ${out}`).status, 0);
      const page = await browser.open(out);
      const printed = [...new Set(await page.evaluate(`${all("figure .provenance code")}.map((code) => code.textContent)`))];
      await page.close();
      assert.equal(printed.length, 1, printed.join("\n"));
      const repeated = run(again, printed[0].includes(" --out ") ? printed[0] : `${printed[0]} --out ${results}`);
      assert.equal(repeated.status, 0, `${printed[0]}\n${repeated.stderr}`);
      const records = (cwd) => readFileSync(join(cwd, results), "utf8").trim().split("\n").map((line) => ({...JSON.parse(line), timing: null}));
      assert.deepEqual(records(again), records(first), printed[0]);
    }
  },

  async "a page like the demo's is small and ready within a second"(browser) {
    const {path} = report("demo", [...records.filter((r) => r.study === "ladder"), {...trace, boards: Array(8).fill(trace.boards[0])}]);
    const page = await browser.open(path);
    const busy = await page.busySeconds();
    const size = statSync(path).size / 2 ** 20;
    console.log(`  ${size.toFixed(2)} MiB, ready after ${busy.toFixed(2)} s of processor time`);
    assert.ok(size < 3 && busy < 1);
    await page.close();
  },

  async "tables say what the records say"(browser) {
    const page = await browser.open(report("tables", records).path);
    const ladder = records.filter((r) => r.study === "ladder");
    const rows = await tableOf(page, "ladder");
    assert.equal(rows.length, ladder.length);
    for (const row of rows) {
      const source = ladder.find((r) => (r.config.weights === "none" ? "float" : r.config.weights) === row.scheme);
      assertPrinted(row.value, source.exact.share);
      assertPrinted(row.low, source.exact.low);
      assertPrinted(row.high, source.exact.high);
      assertPrinted(row.cells, source.cells.mean);
      assertPrinted(row["exact less float"], source.paired.difference);
      assertPrinted(row.p, source.paired.p_value);
      assertPrinted(row["bits of weights"], source.bits.weights);
    }
    const divergences = await tableOf(page, "contraction");
    const [first] = records.filter((r) => r.study === "contraction");
    assert.equal(divergences.length, 2 * 4 * 4);
    for (const row of divergences.filter((r) => r.scheme === "mxint8" && r.measure.startsWith("latent"))) {
      assertPrinted(row.value, first.steps.latent_divergence.mean[row.step - 1]);
      assertPrinted(row.high, first.steps.latent_divergence.high[row.step - 1]);
    }
    const trained = await browser.open(report("trained", [...qat, bench]).path);
    const training = await tableOf(trained, "qat");
    assert.deepEqual(training.map((row) => `${row.scheme}: ${row.series}`).slice(0, 3), ["int4, naive: before training", "int4, naive: after training", "int4, naive: paper, after training"]);
    assertPrinted(training[1].value, qat[0].after.exact.share);
    assertPrinted(training[1].low, qat[0].after.exact.low);
    assertPrinted(training[1].cells, qat[0].after.cells.mean);
    assert.deepEqual([training[1].seed, training[1]["training steps"], training[2].value], ["1", "1000", "71.80 %"]);
    const products = await tableOf(trained, "products");
    assert.equal(products.length, 16);
    assertPrinted(products[1].value, bench.gemm[1].share_of_int8_peak);
    assertPrinted(products[9].value, bench.gemm[1].ratio_to_f32);
    assertPrinted(products[9]["GFLOP/s"], bench.gemm[1].gflops);
    assertQuiet(trained);
    await trained.close();
    const traced = await browser.open(report("basin", [trace]).path);
    const basin = await tableOf(traced, "basin");
    assert.equal(basin.length, 5 * 4);
    // Scheme 1 after step 2: x is the mean of 3, 4 and 5 over its boards.
    assert.deepEqual([basin[5].scheme, basin[5].step, basin[5]["first direction"], basin[5]["second direction"], basin[5].residual], ["mxint4", "2", "4", "1", "3"]);
    await traced.close();
    const heat = await tableOf(page, "layer-error");
    assert.equal(heat.length, 4 * 3 * 5);
    assertPrinted(heat[7].value, 0.01 * 2 * 3);
    assertQuiet(page);
    await page.close();
  },

  async "the CSV file has the digits of the records"(browser) {
    const page = await browser.open(report("csv", records).path);
    await page.evaluate(`window.saved = []; URL.createObjectURL = (blob) => { window.saved.push(blob); return "#"; }; HTMLAnchorElement.prototype.click = () => {}`);
    await tableOf(page, "ladder");
    await page.click(one("#ladder details button"));
    const [head, first] = (await page.evaluate("window.saved[0].text()")).split("\n");
    assert.ok(head.startsWith("measure,scheme,value,low,high"));
    assert.ok(first.startsWith(`boards solved,float,${55 / 64},`), first);
    await page.close();
  },

  async "a page with claims opens short and says what survives"(browser) {
    const failing = {claim: "Weights alone are free", source: "section 5", theirs: "all", study: "decomposition", ours: "none", verdict: "fails", reason: "They are not."};
    const page = await browser.open(report("short", [...records, ...qat, trace, ...claims, failing]).path);
    assert.equal(await page.evaluate(`${all("details.study, details.claim")}.filter((fold) => fold.open).length`), 0);
    assert.ok(await page.evaluate("document.documentElement.scrollHeight") < 4000);
    const said = await page.evaluate(`${one("#section-in-short")}.textContent`);
    assert.match(said, /tiny solves 85\.94 % of 64 boards in float\. Of 7 number formats, 1 keeps at least nine tenths of that, and none keeps less than half\. So few boards say little: the 95 % interval of float alone is [\d.]+ % to [\d.]+ %\./);
    assert.deepEqual(await page.evaluate(`${all("#summary-figure .end-label")}.map((label) => label.textContent).sort()`), ["float", "mxint3", "mxint8"]);
    assert.deepEqual(await page.evaluate(`${all(".verdict")}.map((v) => v.textContent)`), ["holds", "not measured yet", "fails"]);
    assert.equal(await page.evaluate(`${one("#tally")}.textContent`), "holds: 1 · fails: 1 · not measured yet: 1");
    assert.match(await page.evaluate(`${one("#ladder")}.closest("details").querySelector(".finding").textContent`), /^from float 85\.94 % down to mxint3 53\.13 %$/);
    // A card opens on a click, and its link opens the study.
    await page.click(`${all("details.claim summary")}[2]`);
    await page.click(one(".claim[open] a"));
    assert.equal(await page.evaluate(`${one("#decomposition")}.closest("details").open`), true);
    await page.until(`${all("#decomposition g.dot")}.length === 4`);
    assertQuiet(page);
    await page.close();
  },

  async "the filter shows one model and one study"(browser) {
    const other = record({weights: "mxint4", change: {checkpoint: {file: "other.safetensors", sha256: "ff"}}});
    const page = await browser.open(report("filter", [...records, other, ...claims]).path);
    const pick = (name, value) => page.evaluate(`(() => { const picker = document.querySelector('select[aria-label="Show one ${name}"]');
      picker.value = ${JSON.stringify(value)}; picker.dispatchEvent(new Event("change")); })()`);
    const studies = () => page.evaluate(`${all("details.study")}.filter((fold) => fold.checkVisibility()).map((fold) => fold.querySelector("figure:not([hidden])")?.id)`);
    await pick("model", "other");
    assert.ok((await studies()).includes("ladder-1"));
    assert.ok((await studies()).every((id) => id.endsWith("-1")), String(await studies()));
    assert.equal(await page.evaluate(`${one("#section-in-short")}.hidden`), true);
    await pick("model", "");
    await pick("study", "outliers");
    assert.deepEqual(await studies(), ["outliers"]);
    assert.equal(await page.evaluate(`${one("#outliers")}.closest("details").open`), true);
    await pick("study", "");
    assert.ok((await studies()).length > 20);
    assertQuiet(page);
    await page.close();
  },

  async "six series at once, the others on demand"(browser) {
    const page = await browser.open(report("many", ["none", "mxint4", ...Array.from({length: 7}, (_, i) => `int${i + 2}/group32`)].map((weights, row) => record({study: "contraction", row, weights}))).path);
    await openAll(page);
    const shown = () => page.evaluate(`[...new Set(${all("#accuracy .series")}.map((s) => s.dataset.label))]`);
    const looks = () => page.evaluate(`new Set(${all("#accuracy .panel:first-of-type path.line")}.map((p) => p.getAttribute("stroke"))).size`);
    assert.deepEqual((await shown()).length, 6);
    assert.equal(await looks(), 6);
    await page.click(`${all("#accuracy .legend button")}[8]`);
    assert.equal((await shown()).length, 6);
    assert.ok((await shown()).includes("int8/group32"));
    assert.equal(await looks(), 6);
    assertQuiet(page);
    await page.close();
  },

  async "figures are saved with their styles"(browser) {
    const page = await browser.open(report("saved", [...records, ...qat]).path);
    await openAll(page);
    await page.evaluate(`window.saved = []; URL.createObjectURL = (blob) => { window.saved.push(blob); return "#"; }; HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; }`);
    for (const id of ["ladder", "contraction", "layer-error", "qat"]) {
      await page.evaluate(`window.saved.length = 0`);
      await page.click(`${all(`#${id} .save button`)}[0]`);
      const svg = await page.evaluate("window.saved[0].text()");
      assert.ok(svg.startsWith("<svg xmlns="), svg.slice(0, 80));
      assert.doesNotMatch(svg, /var\(|class=|NaN/);
      assert.equal(await page.evaluate(`new DOMParser().parseFromString(${JSON.stringify(svg)}, "image/svg+xml").querySelector("parsererror") === null`), true);
      await page.click(`${all(`#${id} .save button`)}[1]`);
      await page.until("window.saved.length === 2");
      assert.equal(await page.evaluate("window.savedName"), `${id}.png`);
      assert.deepEqual(await page.evaluate("window.saved[1].arrayBuffer().then((bytes) => [...new Uint8Array(bytes).slice(1, 4)])"), [80, 78, 71]);
    }
    assertQuiet(page);
    await page.close();
  },

  async "the player steps by mouse and keyboard"(browser) {
    const page = await browser.open(report("player", [trace]).path);
    const now = () => page.evaluate(`${one("output")}.textContent`);
    const pictures = () => page.evaluate(`${all(".picture svg")}.map((s) => s.getAttribute("aria-label"))`);
    const names = ["float", "mxint4", "int4/tensor", "fp4_e2m1"];
    const expected = (step) => names.map((name, i) =>
      `${name}, board 1, step ${step}: ${runs[i].wrong[step - 1] === 0 ? "solved" : "wrong"}, ${runs[i].wrong[step - 1]} of 81 cells wrong`);
    assert.deepEqual(await pictures(), expected(1));
    await page.click(buttonOf("Step on"));
    assert.equal(await now(), "step 2 of 4");
    assert.deepEqual(await pictures(), expected(2));
    await page.evaluate(`${one(".player")}.focus()`);
    await page.key("ArrowRight");
    assert.deepEqual(await pictures(), expected(3));
    await page.key("End");
    assert.equal(await now(), "step 4 of 4");
    assert.deepEqual(await pictures(), expected(4));
    await page.key("ArrowRight");
    assert.equal(await now(), "step 4 of 4");
    await page.key("ArrowLeft");
    await page.key("Home");
    assert.equal(await now(), "step 1 of 4");
    await page.key("ArrowDown");
    assert.match((await pictures())[0], /^float, board 2, step 1/);
    await page.key("ArrowUp");
    await page.evaluate(`${one("input[type=range]")}.focus()`);
    await page.key("ArrowRight");
    assert.equal(await now(), "step 2 of 4");
    await page.click(buttonOf("Play"));
    await page.until(`${one("output")}.textContent === "step 4 of 4"`);
    const framed = await page.evaluate(`${all(".board")}.map((b) => b.querySelectorAll(".cell.wrong").length)`);
    assert.deepEqual(framed, names.map((_, i) => runs[i].wrong[3]));
    assert.equal(await page.evaluate(`${all(".board")}[0].querySelectorAll(".cell.given").length`), 27);
    // A fifth scheme has to wait until there is room for it.
    assert.equal(await page.evaluate(`${all(".schemes input")}[4].disabled`), true);
    await page.click(`${all(".schemes input")}[0]`);
    await page.click(`${all(".schemes input")}[4]`);
    assert.deepEqual(await page.evaluate(`${all(".board h4")}.map((h) => h.textContent)`), ["mxint4", "int4/tensor", "fp4_e2m1", "nvfp4"]);
    assertQuiet(page);
    await page.close();
  },

  async "the player shows ARC grids without their padding"(browser) {
    const page = await browser.open(report("arc", [arcTrace]).path);
    const pictures = () => page.evaluate(`${all(".picture svg")}.map((s) => s.getAttribute("aria-label"))`);
    assert.deepEqual(await pictures(), [
      "float, board 1, step 1: wrong, 5 of 48 cells wrong", "int4/tensor, board 1, step 1: wrong, 5 of 48 cells wrong"]);
    await page.click(buttonOf("Step on"));
    assert.deepEqual(await pictures(), [
      "float, board 1, step 2: solved, 0 of 48 cells wrong", "int4/tensor, board 1, step 2: wrong, 5 of 48 cells wrong"]);
    const looks = await page.evaluate(`${all(".board")}.map((b) => ({cells: b.querySelectorAll(".cell").length, wrong: b.querySelectorAll(".cell.wrong").length,
      inks: new Set([...b.querySelectorAll(".cell rect:first-child")].map((r) => r.getAttribute("fill"))).size,
      box: b.querySelector(".picture svg").getAttribute("viewBox") }))`);
    // The label's cells, row times column modulo ten, have every color.
    assert.deepEqual(looks.map(({cells, wrong, inks}) => [cells, wrong, inks]), [[48, 0, 10], [48, 5, 10]]);
    for (const {box} of looks) assert.equal(box, "-1 -1 162 122");
    assertQuiet(page);
    await page.close();
  },

  async "figures and controls have names"(browser) {
    const page = await browser.open(report("names", [...records, trace]).path);
    await openAll(page);
    const names = await page.names();
    for (const {role, name} of names)
      if (["button", "slider", "combobox", "checkbox", "img", "image", "figure", "group", "link"].includes(role)) assert.notEqual(name, "", role);
    const has = (role, word) => assert.ok(names.some((node) => node.role.includes(role) && node.name.includes(word)), `${role} ${word}`);
    has("group", "Contraction versus drift");
    has("im", "The format ladder, boards solved: float 85.94 %");
    has("slider", "Step");
    has("button", "Play");
    has("checkbox", "mxint4");
    has("combobox", "Board");
    await page.close();
  },

  async "names with markup stay text"(browser) {
    const bad = record({study: hostile, weights: "mxint4", change: {checkpoint: {file: hostile, sha256: hostile}, data: {file: hostile, sha256: ""}}});
    const evil = {...trace, checkpoint: {file: hostile, sha256: hostile}, task: hostile};
    const page = await browser.open(report("hostile", [bad, evil, {...claims[0], claim: hostile, reason: hostile}, `{"schema": "${hostile.replaceAll('"', '\\"')}"}`]).path);
    assert.equal(await page.evaluate(`window.hacked === undefined && document.images.length === 0`), true);
    assert.equal(await page.evaluate(`document.body.textContent.includes(${JSON.stringify(hostile)})`), true);
    assert.equal(await page.evaluate(`${one("#warnings")}.textContent.includes("1 line was skipped")`), true);
    assertQuiet(page);
    await page.close();
  },

  async "no string of a trace acts in the page"(browser) {
    // Every string in turn, in place of a whole one or, where the number of cells counts, at its start.
    const short = "<img src=x onerror=window.hacked=1>";
    const evils = [];
    const visit = (value, rebuild) => {
      if (typeof value === "string") evils.push(rebuild(value.length > short.length ? short + value.slice(short.length) : hostile));
      else if (Array.isArray(value)) value.slice(0, 1).forEach((item) => visit(item, (other) => rebuild([other, ...value.slice(1)])));
      else if (value !== null && typeof value === "object")
        Object.keys(value).forEach((key) => visit(value[key], (other) => rebuild({...value, [key]: other})));
    };
    visit({...trace, boards: trace.boards.slice(0, 1), n: 1, basin: {...trace.basin, runs: trace.basin.runs.map((run) => run.slice(0, 1))}}, (evil) => evil);
    assert.ok(evils.length > 15, `${evils.length} strings`);
    const {path, stdout} = report("evil-traces", evils);
    const drawn_traces = Number(/(\d+) traces/.exec(stdout)[1]);
    assert.ok(drawn_traces > 8, stdout);
    const page = await browser.open(path);
    await openAll(page);
    await page.evaluate(`${all("button")}.forEach((b) => b.click())`);
    await page.evaluate(`${all("select, input")}.forEach((i) => i.dispatchEvent(new Event("input", {bubbles: true})))`);
    await drawn(page);
    assert.equal(await page.evaluate(`window.hacked === undefined && document.images.length === 0`), true);
    assert.equal(await page.evaluate(`document.body.textContent.includes(${JSON.stringify(hostile)})`), true);
    assertQuiet(page);
    await page.close();
  },

  async "missing, partial and odd records are said to be so"(browser) {
    const empty = await browser.open(report("empty", claims).path);
    assert.match(await empty.evaluate(`${one("main")}.textContent`), /There are no records to draw.*driftless study format-ladder.*driftless trace/s);
    assertQuiet(empty);
    await empty.close();

    const gap = record({});
    gap.steps.exact.mean[1] = gap.steps.exact.low[1] = gap.steps.exact.high[1] = null;
    const other = record({row: 3, weights: "mxint4", change: {version: "9.9.9"}});
    const lines = [gap, record({row: 2, weights: "mxint4"}), other, JSON.stringify(record({row: 4})).slice(0, 300), '{"schema": 1, "n": NaN}', {...record({}), schema: 2}];
    const {path, stderr} = report("partial", lines);
    assert.equal(stderr.split("\n").filter((line) => line.startsWith("warning")).length, 3);
    const page = await browser.open(path);
    await openAll(page);
    assert.match(await page.evaluate(`${one("#warnings")}.textContent`), /3 lines were skipped:.*partial\.jsonl:4.*several versions.*9\.9\.9/s);
    assert.match(await page.evaluate(`${one("#ladder")}.textContent`), /not finished: row 1 is missing/);
    // The first series has no second point, and no line goes through the gap.
    assert.equal(await page.evaluate(`${all("#accuracy .panel")}[0].querySelectorAll("g.series")[0].querySelectorAll(".point").length`), 3);
    assert.equal(await page.evaluate(`/NaN|undefined/.test(${one("main")}.innerHTML)`), false);
    assertQuiet(page);
    await page.close();
  },

  async "phone, dark, print"(browser) {
    const clipped = {...qat[0], weights: "int4", acts: "int4/tensor/static,calib=p99.5", method: "naive, with the inputs of all the down projections clipped"};
    const {path} = report("sizes", [...records, trace, ...claims, clipped]);
    const page = await browser.open(path, {width: 360, height: 740, dark: true});
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
    await openAll(page);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
    assert.ok(await page.evaluate(`${all("figure svg text")}.every((text) => text.getBoundingClientRect().right <= 362)`));
    assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
    const [label] = await page.evaluate(`${all("#qat svg text")}.map((text) => text.textContent).filter((text) => text.startsWith("int4"))`);
    assert.match(label, /^int4, naive, with the inputs of all.*…$/);
    await page.click(one("#theme"));
    assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "light");
    await page.resize(1280, 800);
    await page.until(`${one("#ladder svg")}.viewBox.baseVal.width > 800`);
    const {data} = await page.send("Page.printToPDF", {printBackground: true});
    assert.equal(Buffer.from(data, "base64").subarray(0, 5).toString(), "%PDF-");
    assertQuiet(page);
    await page.close();
  },
};

if (!chromium) skip("no Chromium; install it with apt-get install chromium");
const browser = await Browser.start();
let failures = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test(browser);
    console.log(`ok: ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
await browser.stop();
rmSync(folder, {recursive: true});
process.exit(failures === 0 ? 0 : 1);
