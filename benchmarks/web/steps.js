// SPDX-License-Identifier: Apache-2.0
// One supervision step of several contestants in turn, in Node or in a page's worker: what race.mjs runs in both. Free
// of outer names, so that its source may travel.

/// A contestant over onnxruntime-web: `session` runs an exported step (driftless export onnx).
export function ortContestant(ort, session, {cells, width}, tokens) {
  const float = (values) => new ort.Tensor("float32", values, [1, cells, width]);
  let states = null;
  return {
    start() {
      states = {z_h: float(new Float32Array(cells * width)), z_l: float(new Float32Array(cells * width)), isNew: 1};
    },
    async step() {
      const {logits, z_h_next, z_l_next} = await session.run({
        tokens: new ort.Tensor("int32", Int32Array.from(tokens), [1, cells]), z_h: states.z_h, z_l: states.z_l,
        is_new: new ort.Tensor("bool", Uint8Array.of(states.isNew), [1])});
      states = {z_h: z_h_next, z_l: z_l_next, isNew: 0};
      const width = logits.data.length / cells;
      return Array.from({length: cells}, (_, cell) => {
        const own = logits.data.subarray(cell * width, (cell + 1) * width);
        return own.indexOf(own.reduce((a, b) => Math.max(a, b)));
      });
    },
  };
}

export function ownContestant(model, tokens) {
  return {start: () => model.start(tokens), step: async () => Array.from(model.step().tokens)};
}

/// Answers first, then times: milliseconds of every step but a first, unmeasured round, contestants in turn. In Node
/// from version 24 on they are the thread's own, which no busy machine stretches; in a page they pass on the wall.
export async function raceSteps(contestants, {rounds, steps}) {
  const now = () => {
    if (!globalThis.process?.threadCpuUsage) return performance.now();
    const {user, system} = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, {ms: [], answers: []}]));
  for (const contestant of Object.values(contestants)) contestant.start();
  for (let step = 0; step < steps; ++step)
    for (const [name, contestant] of Object.entries(contestants)) results[name].answers.push(await contestant.step());
  for (let round = 0; round < rounds; ++round)
    for (const [name, contestant] of Object.entries(contestants)) {
      const begin = now();
      await contestant.step();
      results[name].ms.push(now() - begin);
    }
  return results;
}
