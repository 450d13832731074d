// SPDX-License-Identifier: Apache-2.0
// Thinks for the page: up to four models side by side, a step each in turn. Whatever the page asks
// next ends a run that is under way, and every answer carries the number of its question.
import {Model} from "./model.js";
import {compileEngine, runnableVariants} from "./variants.js";

const models = [];  // by place; null where there is none
let file = null;
let asFile = null;  // a model by its file's own plan, for the first that asks for one
let engineBytes = null;
let engine = null;
let run = 0;

const channel = new MessageChannel();
/// Lets messages in between two steps.
const breathe = () => new Promise((resolve) => {
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(0);
});

async function compiledEngine() {
  engine ??= await compileEngine(runnableVariants()[0], engineBytes);
  return engine;
}

/// |a - b|.
function distance(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; ++i) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}

/// |a - b| / |b|.
function relativeDistance(a, b) {
  const size = Math.sqrt(b.reduce((sum, value) => sum + value ** 2, 0));
  return size > 0 ? distance(a, b) / size : 0;
}

const first = () => {
  const model = models.find((one) => one) ?? asFile;
  if (!model) throw new Error("model: none is loaded");
  return model;
};

/// `reference` is the run that divergences are distances from.
function detailsOf(model, reference) {
  if (model === reference.model) reference.latent = model.latent().slice();
  return {confidence: model.confidence(), divergence: distance(model.latent(), reference.latent)};
}

const asks = {
  setUp(message) {
    engineBytes = message.engine;
    return {};
  },

  /// A model of none of `tasks`, where they are given, leaves the one before it in its place.
  async file({bytes, tasks = null}) {
    const given = new Uint8Array(bytes);
    const model = await Model.create(await compiledEngine(), given, {});  // throws where it is none
    const {info, task} = model;
    if (tasks === null || tasks.includes(info.task)) {
      asFile = model;
      file = given;
      models.length = 0;
    }
    return {info, task};
  },

  async format({place, choice}) {
    models[place] = null;
    if (!choice) return {};
    if (asFile && !choice.weights && !choice.activations) [models[place], asFile] = [asFile, null];
    else models[place] = await Model.create(await compiledEngine(), file, choice);
    const {info, memoryBytes} = models[place];
    return {info, memoryBytes};
  },

  read: ({text}) => first().read(text),
  make: ({seed, values}) => first().make(seed, values),

  /// One board under every format. Distances are from the states of the first of them, which is that of `reference`
  /// where there is one. Then a step also says how sure the model is of each cell and how far its z_L lies from there.
  async think({number, board, steps, reference = null}) {
    const active = models.flatMap((model, place) => (model ? [{model, place, last: null}] : []))
      .sort((a, b) => (b.place === reference) - (a.place === reference));
    for (const one of active) one.model.start(board.input);
    for (let step = 1; step <= steps; ++step) {
      for (const one of active) {
        await breathe();
        if (number !== run) return {stopped: true};
        const begin = performance.now();
        const {tokens, haltScore, wantsHalt} = one.model.step();
        const ms = performance.now() - begin;
        const state = one.model.state().slice();
        postMessage({
          number, part: "step", place: one.place, step, tokens, haltScore, wantsHalt, ms,
          change: one.last ? relativeDistance(one.last, state) : null,
          distance: one === active[0] ? null : relativeDistance(state, active[0].last),
          solved: one.model.judge(board, tokens),
          ...(reference === null ? {} : detailsOf(one.model, active[0])),
        });
        one.last = state;
      }
    }
    return {};
  },

  /// Boards one after another, each until the model stops by itself.
  async count({number, boards, seed, values, steps}) {
    const tallies = models.map((model) => (model ? {solved: 0, done: 0} : null));
    for (let index = 0; index < boards; ++index) {
      const board = first().make(seed + index, values);
      for (const [place, model] of models.entries()) {
        if (!model) continue;
        model.start(board.input);
        let answer = null;
        for (let step = 1; step <= steps; ++step) {
          await breathe();
          if (number !== run) return {stopped: true};
          answer = model.step();
          if (answer.wantsHalt) break;
        }
        tallies[place].done += 1;
        tallies[place].solved += model.judge(board, answer.tokens) ? 1 : 0;
        postMessage({number, part: "tally", tallies});
      }
    }
    return {};
  },

  stop: () => ({}),
};

let queue = Promise.resolve();
self.onmessage = ({data}) => {
  run = data.number;
  queue = queue.then(async () => {
    try {
      postMessage({number: data.number, ...(await asks[data.ask](data)), part: "done"});
    } catch (error) {
      postMessage({number: data.number, part: "failed", message: error.message});
    }
  });
};
