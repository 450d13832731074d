// SPDX-License-Identifier: Apache-2.0

/** What an error of the engine is: one line, and the code that the program would exit with. */
export class DriftlessError extends Error {
  readonly code: number;
}

export type Variant = "relaxed" | "simd" | "plain";

export interface LoadOptions {
  /** A quantizer of weights and one of activations, as the program takes them ("mxint4,window=3", "int8", "none").
   *  Without them packed models run by their own plan and checkpoints in float32. */
  weights?: string;
  activations?: string;
  /** Which linear layers the quantizers meet: those of the recursive block, unless said, or all. */
  coverage?: "block" | "linear";
  /** What attention's products multiply: floats, unless said, or rows of int8. */
  attention?: "none" | "int8";
  /** In float32 even where integers would do. */
  simulate?: boolean;
  /** What to run; the best that runs here unless said. */
  variant?: Variant;
  /** Limits the kernels, as DRIFTLESS_ISA does for the program: "wasm_relaxed", "wasm_simd" or "scalar". */
  kernels?: string;
}

export interface ModelInfo {
  task: string;
  cells: number;
  vocabulary: number;
  /** Supervision steps that the model was trained with. */
  steps: number;
  /** Of z_H and z_L in a step. */
  cycles: [number, number];
  architecture: string;
  width: number;
  /** The quantizers in use. */
  scheme: string;
  /** Whether the linear layers run on integers. */
  native: boolean;
  /** The kernels in use, of integer products and of what lies between them. */
  kernels: string;
  epilogues: string;
}

export interface Task {
  name: string;
  /** The character of each token. */
  alphabet: string;
  /** A board on one line, or empty. */
  sample: string;
  /** What may be asked of a new board. */
  options: {name: string; help: string}[];
}

export interface Board {
  input: number[];
  /** The solution. */
  label: number[];
  rating: number;
}

export interface Step {
  /** From 1. */
  step: number;
  /** The most likely token of each cell. */
  tokens: Uint8Array;
  /** Above 0 where the model takes its answer for right. */
  haltScore: number;
  wantsHalt: boolean;
}

export interface SolveOptions {
  steps?: number;
  /** Whether to end when the model wants to; true unless said. */
  halt?: boolean;
  /** Of random states, for models that draw them. */
  seed?: number;
}

export class Model {
  readonly info: ModelInfo;
  /** Null where the model's task is not one of the engine's. */
  readonly task: Task | null;
  readonly memoryBytes: number;
  read(text: string): Board;
  make(seed: number, values?: (number | null)[]): Board;
  judge(board: Pick<Board, "input" | "label">, answer: ArrayLike<number>): boolean;
  text(tokens: ArrayLike<number>): string;
  start(board: string | ArrayLike<number>, seed?: number): void;
  step(): Omit<Step, "step">;
  /** z_H and z_L after a step, as they lie in the engine's memory: copy what is to outlive the next step. */
  state(): Float32Array;
  latent(): Float32Array;
  /** The probability of each cell's token. */
  confidence(): number[];
  /** A hash of both recurrent states, equal to the CPU's where they are equal bit for bit. */
  hash(): string;
  solve(board: string | ArrayLike<number>, options?: SolveOptions): AsyncGenerator<Step, void, void>;
}

/** What can run here, best first. */
export function runnableVariants(): Variant[];

/** A packed model or a float checkpoint, as its bytes or from a path (Node) or an address. */
export function load(source: Uint8Array | ArrayBuffer | URL | string, options?: LoadOptions): Promise<Model>;
