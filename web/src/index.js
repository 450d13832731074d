// SPDX-License-Identifier: Apache-2.0
// const model = await load('model.safetensors');
// for await (const step of model.solve('3.....5....26...')) console.log(model.text(step.tokens));
import {DriftlessError} from "./instance.js";
import {Model} from "./model.js";
import {compileEngine, runnableVariants} from "./variants.js";

export {DriftlessError, Model, runnableVariants};

const isNode = typeof process === "object" && process.versions?.node !== undefined;
const compiled = new Map();

async function bytesOf(source, what) {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  const text = String(source);
  if (isNode && !/^https?:/.test(text)) {
    const {readFile} = await import("node:fs/promises");
    return readFile(source).catch((error) => {
      throw new DriftlessError(`${text}: cannot read; ${error.message}`, 14);
    });
  }
  const answer = await fetch(source).catch((error) => ({ok: false, status: error.message}));
  if (!answer.ok) throw new DriftlessError(`${text}: cannot fetch ${what}; got ${answer.status}`, 14);
  return new Uint8Array(await answer.arrayBuffer());
}

/** A variant of the engine, each compiled once. */
export function engineOf(variant) {
  if (!compiled.has(variant)) {
    const place = new URL("../wasm/driftless.wasm", import.meta.url);
    compiled.set(variant, bytesOf(place, "the engine").then((bytes) => compileEngine(variant, bytes)));
  }
  return compiled.get(variant);
}

/** A model from its bytes or from where they are. */
export async function load(source, options = {}) {
  const variant = options.variant ?? runnableVariants()[0];
  const [file, engine] = await Promise.all([bytesOf(source, "the model"), engineOf(variant)]);
  return Model.create(engine, file, options);
}
