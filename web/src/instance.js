// SPDX-License-Identifier: Apache-2.0
// One instance of the WebAssembly module: a model and the board that it thinks about. Calls throw
// DriftlessError with one line that says what is wrong.

export class DriftlessError extends Error {
  /** @param {string} message @param {number} code as the program exits with, 10 and up */
  constructor(message, code) {
    super(message);
    this.name = "DriftlessError";
    this.code = code;
  }
}

const kSuccess = 0;
const kNotSupported = 52;

/** What the C library asks of its system: an environment, and nothing else. */
function system(environment, memory) {
  const entries = Object.entries(environment).map(
      ([name, value]) => new TextEncoder().encode(`${name}=${value}\0`));
  const view = () => new DataView(memory().buffer);
  const calls = {
    environ_sizes_get(count, bytes) {
      view().setUint32(count, entries.length, true);
      view().setUint32(bytes, entries.reduce((sum, entry) => sum + entry.length, 0), true);
      return kSuccess;
    },
    environ_get(pointers, text) {
      entries.forEach((entry, index) => {
        view().setUint32(pointers + 4 * index, text, true);
        new Uint8Array(memory().buffer).set(entry, text);
        text += entry.length;
      });
      return kSuccess;
    },
    proc_exit() {
      throw new DriftlessError("engine: ended itself", 16);
    },
  };
  return new Proxy(calls, {get: (known, name) => known[name] ?? (() => kNotSupported)});
}

/** The exports of a module that WASI's C library is linked into. */
export async function instantiated(module, environment) {
  let exports = null;
  const imports = {wasi_snapshot_preview1: system(environment, () => exports.memory)};
  exports = (await WebAssembly.instantiate(module, imports)).exports;
  exports._initialize?.();
  return exports;
}

export class Instance {
  #exports;

  /** @param {WebAssembly.Module} module @param {Record<string, string>} environment */
  static async create(module, environment = {}) {
    const made = new Instance();
    made.#exports = await instantiated(module, environment);
    return made;
  }

  /** Bytes of the memory that the instance holds. */
  get memoryBytes() {
    return this.#exports.memory.buffer.byteLength;
  }

  load(file, choice) {
    const options = new TextEncoder().encode(JSON.stringify(choice));
    const at = this.#room(file.length + options.length);
    const bytes = new Uint8Array(this.#exports.memory.buffer);
    bytes.set(file, at);
    bytes.set(options, at + file.length);
    this.#check(this.#call(() => this.#exports.load(options.length)));
    return JSON.parse(this.#text());
  }

  start(tokens, seed = 0) {
    const at = this.#room(tokens.length);
    new Uint8Array(this.#exports.memory.buffer).set(tokens, at);
    this.#check(this.#call(() => this.#exports.start(seed)));
  }

  /** One supervision step; {tokens, haltScore}. */
  step() {
    this.#check(this.#call(() => this.#exports.step()));
    return {haltScore: this.#exports.halt_score()};
  }

  answer(cells) {
    return new Uint8Array(this.#exports.memory.buffer, this.#exports.answer(), cells).slice();
  }

  /** The state that the heads read, as it lies in the memory: copy what is to outlive the next step. */
  state() {
    return new Float32Array(
        this.#exports.memory.buffer, this.#exports.state(), this.#exports.state_values());
  }

  /** The other state, and the logits [cells, vocabulary]; views as that of state(). */
  latent() {
    return new Float32Array(
        this.#exports.memory.buffer, this.#exports.latent(), this.#exports.state_values());
  }

  logits(values) {
    return new Float32Array(this.#exports.memory.buffer, this.#exports.logits(), values);
  }

  /** A hash of both states, 16 hexadecimal digits. */
  hash() {
    return BigInt.asUintN(64, this.#exports.hash()).toString(16).padStart(16, "0");
  }

  /** A request about boards (web/engine/boards.h). */
  boards(request) {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const at = this.#room(bytes.length);
    new Uint8Array(this.#exports.memory.buffer).set(bytes, at);
    this.#check(this.#call(() => this.#exports.boards()));
    return JSON.parse(this.#text());
  }

  #room(bytes) {
    const at = this.#call(() => this.#exports.input(bytes));
    if (at === 0 && bytes > 0) throw new DriftlessError(this.#text(), 16);
    return at;
  }

  #text() {
    const {memory, text, text_bytes: length} = this.#exports;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, text(), length()).slice());
  }

  #check(code) {
    if (code !== kSuccess) throw new DriftlessError(this.#text(), code);
  }

  /** A trap leaves the instance in no state to go on from; it is still one line to the caller. */
  #call(body) {
    try {
      return body();
    } catch (error) {
      if (error instanceof DriftlessError) throw error;
      throw Object.assign(new DriftlessError(`engine: stopped; ${error.message}`, 16), {cause: error});
    }
  }
}
