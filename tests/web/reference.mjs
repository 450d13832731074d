// SPDX-License-Identifier: Apache-2.0
// What the CPU says about the boards of a file (reference.cc), and a comparison with it that runs in Node and in a page.
import {spawnSync} from "node:child_process";

export const model = "models/sudoku-small-mxint4.safetensors";
export const checkpoint = "models/sudoku-small.safetensors";
export const boards = "models/demo-sudoku.csv";

/// How many boards are compared, 64 at most; a few seconds' worth unless said.
export const compared = Number(process.env.DRIFTLESS_WEB_BOARDS ?? 6);

/// What runs natively: the packed model, and the same weights in int8.
export const formats = {
  mxint4: {weights: "", activations: ""},
  int8: {weights: "int8/channel", activations: "int8/token"},
};

export function reference(program, {weights, activations}, count, file = model) {
  const {status, stdout, stderr} = spawnSync(program, [file, boards, String(count), weights, activations],
    {encoding: "utf8", maxBuffer: 1 << 28});
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
  return stdout.trim().split("\n").map((line) => JSON.parse(line));
}

/// The first difference between a model and what the CPU says, or null. Free of outer names: a page runs its source.
export function firstDifference(thinker, expected) {
  for (const [board, {input, steps}] of expected.entries()) {
    thinker.start(input);
    for (const [step, {hash, haltScore}] of steps.entries()) {
      const got = thinker.step();
      if (thinker.hash() !== hash || got.haltScore !== haltScore)
        return `board ${board}, step ${step + 1}: got ${thinker.hash()} ${got.haltScore}, expected ${hash} ${haltScore}`;
    }
  }
  return null;
}
