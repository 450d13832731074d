// SPDX-License-Identifier: Apache-2.0
// Puts the page together: node build.mjs WASM_FOLDER OUT_FOLDER. page.html is one file without a model, engine.json what
// of it a report needs to think; `driftless web` and `driftless report --live` put a model in the place of @model@ and
// @name@.
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const [wasm, out] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const read = (...parts) => readFileSync(join(here, ...parts), "utf8");

/// A script without comments of whole lines, which are for who reads the source.
const bare = (text) => text.split("\n").filter((line) => !/^\s*\/\//.test(line)).join("\n");
/// The modules of the npm package as one classic script, in the order of what needs what.
const worker = ["instance.js", "vectors.js", "variants.js", "model.js", "worker.js"]
  .map((name) => bare(read("..", "src", name)).replace(/^import .*$/gm, "").replace(/^export /gm, ""))
  .join("\n");
const script = ["thinker.js", "boards.js", "curves.js", "page.js"].map((name) => bare(read(name))).join("\n");
const style = read("page.css");
for (const text of [worker, script]) if (/<\/script|<!--/i.test(text)) throw new Error("a script holds the end of one");

const engine = gzipSync(readFileSync(join(wasm, "driftless.wasm")), {level: 9}).toString("base64");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = ["default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, `style-src ${hash(style)}`,
  "worker-src blob:", "base-uri 'none'", "form-action 'none'"].join("; ");
const data = JSON.stringify({name: "@name@", model: "@model@", worker, engine}).replaceAll("<", "\\u003c");

const parts = {policy, style, data, script};
writeFileSync(join(out, "engine.json"), data);
writeFileSync(join(out, "page.html"), read("page.html").replace(/@(policy|style|data|script)@/g, (_, part) => parts[part]));
