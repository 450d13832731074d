// SPDX-License-Identifier: Apache-2.0
// A model under one number format.
import {DriftlessError, Instance} from "./instance.js";

/** Each has those before it. */
const kKernels = ["scalar", "wasm_simd", "wasm_relaxed"];
const kFileAsItIs = {weights: "", activations: "", coverage: "block", attention: "none", simulate: false};

export class Model {
  #instance;
  #run = 0;

  /** Made by load(); `engine` is compiled already (variants.js). */
  static async create(engine, file, options = {}) {
    const model = new Model();
    const kernels = options.kernels ?? engine.limit;
    if (kKernels.indexOf(kernels) > kKernels.indexOf(engine.limit))
      throw new DriftlessError(`kernels: got '${kernels}', expected '${engine.limit}' at most: no more runs here`, 10);
    model.#instance = await Instance.create(engine.module, {DRIFTLESS_ISA: kernels});
    const choice = Object.fromEntries(Object.entries(kFileAsItIs).map(([name, usual]) => [name, options[name] ?? usual]));
    model.info = model.#instance.load(file, choice);
    const tasks = model.#instance.boards({ask: "tasks"});
    model.task = tasks.find((task) => task.name === model.info.task) ?? null;
    return model;
  }

  get memoryBytes() {
    return this.#instance.memoryBytes;
  }

  /** A board of one line of text: {input, label}, both tokens; label is the solution. */
  read(text) {
    return this.#instance.boards({ask: "read", task: this.info.task, text});
  }

  /** A new board. `values`: one number for each of task.options, or none. */
  make(seed, values = []) {
    return this.#instance.boards(
        {ask: "make", task: this.info.task, cells: this.info.cells, seed, values});
  }

  /** Whether an answer solves a board. */
  judge(board, answer) {
    const request = {ask: "judge", task: this.info.task, input: [...board.input], label: [...board.label]};
    return this.#instance.boards({...request, answer: [...answer]}).solved;
  }

  /** Tokens as text, by the task's alphabet. */
  text(tokens) {
    return Array.from(tokens, (token) => this.task?.alphabet[token] ?? "?").join("");
  }

  /** Puts a board in, tokens or one line of text, for step(). */
  start(board, seed = 0) {
    ++this.#run;
    const tokens = typeof board === "string" ? this.read(board).input : board;
    this.#instance.start(Uint8Array.from(tokens), seed);
  }

  /** One supervision step. */
  step() {
    const {haltScore} = this.#instance.step();
    return {tokens: this.#instance.answer(this.info.cells), haltScore, wantsHalt: haltScore > 0};
  }

  /** After a step; a view that the next step changes. */
  state() {
    return this.#instance.state();
  }

  /** The state that the model keeps to itself, z_L; a view as state() is. */
  latent() {
    return this.#instance.latent();
  }

  /** The probability of each cell's token. */
  confidence() {
    const {cells, vocabulary} = this.info;
    const logits = this.#instance.logits(cells * vocabulary);
    return Array.from({length: cells}, (_, cell) => {
      const own = logits.subarray(cell * vocabulary, (cell + 1) * vocabulary);
      const largest = own.reduce((a, b) => Math.max(a, b));
      return 1 / own.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
    });
  }

  hash() {
    return this.#instance.hash();
  }

  /**
   * Thinks about a board, step by step, until the model wants to stop or the steps it was trained
   * with are over. One board at a time: a second call ends the first.
   */
  async *solve(board, {steps = this.info.steps, halt = true, seed = 0} = {}) {
    this.start(board, seed);
    const run = this.#run;
    for (let number = 1; number <= steps; ++number) {
      await null;
      if (run !== this.#run) {
        throw new DriftlessError("solve: another board was put in before this one was done", 10);
      }
      const step = this.step();
      yield {step: number, ...step};
      if (halt && step.wantsHalt) return;
    }
  }
}
