// SPDX-License-Identifier: Apache-2.0
// Vectors and relaxed vectors: whether an engine computes the latter as it must, and a module without them.

/**
 * (module (memory (export "m") 1) (func (export "f")
 *   (v128.store (i32.const 48) (OPERATION
 *     (v128.load (i32.const 0)) (v128.load (i32.const 16)) (v128.load (i32.const 32))))))
 */
const moduleOf = (operation) => Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1,
  7, 9, 2, 1, 109, 2, 0, 1, 102, 0, 0, 10, 31, 1, 29, 0, 0x41, 48,
  0x41, 0, 0xfd, 0, 4, 0, 0x41, 16, 0xfd, 0, 4, 0, 0x41, 32, 0xfd, 0, 4, 0, 0xfd, ...operation, 0xfd, 11, 4, 0, 11,
]);
const kDot = moduleOf([0x93, 2]);   // i32x4.relaxed_dot_i8x16_i7x16_add_s
const kMadd = moduleOf([0x85, 2]);  // f32x4.relaxed_madd

/**
 * Whether the relaxed instructions that the kernels use are known here and do what the kernels need: the dot product of
 * bytes is right (Node 20, with its flag for them, has a compiler that gets it wrong), and multiplication and addition
 * are rounded once (a processor may lack that).
 */
export function hasRelaxed() {
  try {
    return [[kDot, dotAgrees], [kMadd, maddAgrees]].every(([bytes, agrees]) => {
      if (!WebAssembly.validate(bytes)) return false;
      const {m, f} = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
      return agrees(m.buffer, f);
    });
  } catch {
    return false;
  }
}

/// (1 + x)(1 + x) - (1 + 2x) is x^2, and zero where the product is rounded first.
function maddAgrees(memory, run) {
  const values = new Float32Array(memory);
  const x = [2 ** -12, -(2 ** -12), 2 ** -13, -(2 ** -14)];
  for (let lane = 0; lane < 4; ++lane) {
    values[lane] = values[4 + lane] = 1 + x[lane];
    values[8 + lane] = -(1 + 2 * x[lane]);
  }
  run();
  return x.every((value, lane) => values[12 + lane] === value ** 2);
}

function dotAgrees(memory, run) {
  const bytes = new Int8Array(memory);
  const words = new Int32Array(memory);
  let random = 1;
  const next = () => (random = (Math.imul(random, 1664525) + 1013904223) >>> 0) >>> 24;
  for (let round = 0; round < 64; ++round) {
    for (let i = 0; i < 16; ++i) {
      bytes[i] = round === 0 ? -128 : next();
      bytes[16 + i] = round === 0 ? 127 : next() & 127;
    }
    for (let lane = 0; lane < 4; ++lane) words[8 + lane] = (next() << 16) - 8000000;
    run();
    for (let lane = 0; lane < 4; ++lane) {
      let sum = words[8 + lane];
      for (let i = 4 * lane; i < 4 * lane + 4; ++i) sum += bytes[i] * bytes[16 + i];
      if (words[12 + lane] !== sum) return false;
    }
  }
  return true;
}

/** Reads a WebAssembly binary. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  number() {
    let value = 0;
    for (let shift = 0;; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  numbers(count) {
    for (; count > 0; --count) this.number();
  }

  /** Passes an instruction; the kind of vectors that it is of. */
  instruction() {
    const code = this.bytes[this.at++];
    if ((code >= 0x28 && code <= 0x3e) || code === 0x11) this.numbers(2);  // memory, call_indirect
    else if (code === 0x43) this.at += 4;
    else if (code === 0x44) this.at += 8;
    else if (code === 0x0e) this.numbers(this.number() + 1);  // br_table
    else if (code === 0x1c) this.numbers(this.number());
    else if (code === 0xfc) this.numbers([2, 1, 2, 1, 2, 1, 2, 1, 1, 1][this.number() - 8] ?? 0);
    else if (code === 0xfd) return this.#vector();
    else if (kOneNumber.has(code)) this.number();
    return kNone;
  }

  #vector() {
    const code = this.number();
    if (code <= 11 || (code >= 84 && code <= 93)) this.numbers(2);
    if (code === 12 || code === 13) this.at += 16;
    if ((code >= 21 && code <= 34) || (code >= 84 && code <= 91)) this.at += 1;
    return code >= 0x100 ? kRelaxed : kVectors;
  }
}

// Blocks, branches, calls, exceptions, variables, tables, sizes of memory, whole constants, references.
const kOneNumber = new Set([
  0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0c, 0x0d, 0x10, 0x18, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26,
  0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2,
]);
const kCode = 10;

/** Kinds of vectors, each beyond the one before. */
const [kNone, kVectors, kRelaxed] = [0, 1, 2];
/** What the kernels of an instruction set may have. */
const kKinds = {scalar: kNone, wasm_simd: kVectors, wasm_relaxed: kRelaxed};

/**
 * A copy of a module in which functions with vectors beyond those of `kernels` trap: they are not to be called. An engine
 * that does not know an instruction refuses the whole module that has it.
 */
export function limitedTo(kernels, module) {
  const bytes = Uint8Array.from(module);
  const reader = new Reader(bytes, 8);
  while (reader.at < bytes.length) {
    const section = bytes[reader.at++];
    const size = reader.number();
    const end = reader.at + size;
    if (section === kCode)
      for (let count = reader.number(); count > 0; --count) limitFunction(reader, kKinds[kernels]);
    reader.at = end;
  }
  return bytes;
}

function limitFunction(reader, most) {
  const size = reader.number();
  const first = reader.at;
  const end = first + size;
  for (let groups = reader.number(); groups > 0; --groups) reader.numbers(2);  // locals
  let kind = kNone;
  while (reader.at < end) kind = Math.max(kind, reader.instruction());
  if (reader.at !== end) throw new Error("engine: a function of the module is not understood");
  if (kind <= most) return;
  reader.bytes.fill(1, first, end).set([0, 0], first);  // no locals, unreachable, nothing ...
  reader.bytes[end - 1] = 11;                           // ... and the end
}
