// SPDX-License-Identifier: Apache-2.0
// The pictures of docs/images, light and dark: node player.mjs PAGE FOLDER, where PAGE is
// driftless report docs/results/trace-sudoku-small.json --out PAGE
// Three boards of a player after seven steps, cut to what they take.
import {writeFileSync} from "node:fs";
import {join} from "node:path";

import {Browser} from "./chromium.mjs";

const [, , path, folder] = process.argv;
const setUp = `(() => {
  const player = document.querySelector(".player");
  const set = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event, {bubbles: true})); };
  set(player.querySelector("select"), "10", "change");
  const wanted = ["float", "mxint4", "int4/tensor/static"];
  for (const label of player.querySelectorAll(".schemes label")) {
    const box = label.querySelector("input");
    if (box.checked !== wanted.includes(label.textContent.trim())) box.click();
  }
  set(player.querySelector("input[type=range]"), "7", "input");
})()`;
const browser = await Browser.start();
for (const dark of [false, true]) {
  const page = await browser.open(path, {width: 1180, height: 1200, dark});
  await page.evaluate(setUp);
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const clip = await page.evaluate(`(() => {
    const boxes = [...document.querySelectorAll(".player .board")].map((board) => board.getBoundingClientRect());
    const left = Math.min(...boxes.map((b) => b.left)) - 12, top = Math.min(...boxes.map((b) => b.top)) + scrollY - 8;
    const right = Math.max(...boxes.map((b) => b.right)) + 12, bottom = Math.max(...boxes.map((b) => b.bottom)) + scrollY + 3;
    return {x: left, y: top, width: right - left, height: bottom - top, scale: 2};
  })()`);
  const {data} = await page.send("Page.captureScreenshot", {format: "png", clip, captureBeyondViewport: true});
  writeFileSync(join(folder, dark ? "player-dark.png" : "player.png"), Buffer.from(data, "base64"));
}
await browser.stop();
