// SPDX-License-Identifier: Apache-2.0
// A picture of a report: node screenshot.mjs PAGE OUT.png WIDTH HEIGHT SELECTOR [SCRIPT]
// Scrolls to the element, after running the script in the page where one is given. docs/images is made so.
import {writeFileSync} from "node:fs";

import {Browser} from "./chromium.mjs";

const [, , path, out, width, height, selector, script = "0"] = process.argv;
const browser = await Browser.start();
const page = await browser.open(path, {width: Number(width), height: Number(height)});
await page.evaluate(script);
await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({behavior: "instant"})`);
await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
writeFileSync(out, await page.screenshot());
await browser.stop();
