// Boards that were not recorded: where the page has an engine (report --live), a player runs them under its own schemes.

const engineData = document.getElementById("engine");
const bytesOfText = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const unzippedBytes = async (bytes) => {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

/// One worker with a model, for one player. Questions have numbers, and a new one ends a run.
class LiveEngine {
  #worker;
  #number = 0;
  #open = new Map();

  async start() {
    const {worker, engine, model, name} = JSON.parse(engineData.textContent);
    this.name = name;
    this.#worker = new Worker(URL.createObjectURL(new Blob([worker], {type: "text/javascript"})));
    this.#worker.onmessage = ({data: {number, part, ...answer}}) => {
      const question = this.#open.get(number);
      if (part === "step") return question.onPart(answer);
      this.#open.delete(number);
      return part === "failed" ? question.reject(new Error(answer.message)) : question.resolve(answer);
    };
    await this.ask("setUp", {engine: await unzippedBytes(bytesOfText(engine))});
    Object.assign(this, await this.ask("file", {bytes: bytesOfText(model)}));
    return this;
  }

  ask(ask, request = {}, onPart = () => {}) {
    const number = ++this.#number;
    this.#worker.postMessage({...request, ask, number});
    return new Promise((resolve, reject) => this.#open.set(number, {resolve, reject, onPart}));
  }
}

/// A run as a trace has it, step by step.
class LiveRun {
  answers = [];
  confidence = [];
  outcome = "";
  divergence = [];
  halt = [];

  add(step, text, label) {
    this.answers.push(text(step.tokens));
    this.confidence.push(step.confidence.map((share) => Math.round(35 * share).toString(36)).join(""));
    this.outcome += !step.solved ? "w" : text(step.tokens) === label ? "e" : "a";
    this.divergence.push(step.divergence);
    this.halt.push(step.haltScore);
  }
}

/// How the engine is to run a scheme of a trace. Throws where it does not.
function choiceOf(scheme, engine) {
  const {weights, acts, coverage, attention = "none", calibration, smooth, hadamard, delta, bias, h_cycles, l_cycles} = scheme;
  if (calibration || smooth || hadamard) throw new Error("this scheme is made from boards beforehand");
  if (delta) throw new Error("this page quantizes inputs, not their changes");
  if (bias !== "float") throw new Error("biases stay in float");
  if (h_cycles !== engine.info.cycles[0] || l_cycles !== engine.info.cycles[1])
    throw new Error(`it was recorded with ${h_cycles} and ${l_cycles} cycles, the model has ${engine.info.cycles.join(" and ")}`);
  return {weights, activations: acts, coverage, attention};
}

/// Thinks about a board under the schemes of a trace. What a scheme cannot do here is its run's `failed`. Divergences are
/// from a float model, as in the trace.
async function thinkLive(engine, trace, board, onStep) {
  const text = (tokens) => Array.from(tokens, (token) => trace.alphabet[token] ?? "?").join("");
  const label = text(board.label);
  const runs = [];
  for (const [place, scheme] of trace.schemes.entries()) {
    runs.push(new LiveRun());
    try {
      await engine.ask("format", {place, choice: choiceOf(scheme, engine)});
    } catch (error) {
      await engine.ask("format", {place, choice: null});
      runs[place] = {failed: error.message};
    }
  }
  if (runs.every((run) => run.failed)) throw new Error(runs[0].failed);
  const reference = trace.schemes.length;
  await engine.ask("format", {place: reference, choice: {weights: "none", activations: "none"}});
  await engine.ask("think", {board, steps: trace.steps, reference}, (step) => {
    runs[step.place]?.add(step, text, label);
    onStep(step.step);
  });
  return {number: trace.boards.length, input: text(board.input), label, runs, isLive: true};
}

/// A form for a board of one's own or a new one; `add` takes what came of it.
function makeLive(trace, add) {
  if (engineData === null) return null;
  const line = make("input", {type: "text", "aria-label": "A board on one line", placeholder: "a board on one line", spellcheck: "false", autocomplete: "off"});
  const said = make("output", {"aria-live": "polite"});
  let engine = null;
  const run = (boardOf) => async () => {
    try {
      said.textContent = "loading";
      engine ??= await new LiveEngine().start();
      if (engine.info.task !== trace.task) throw new Error(`${engine.name}: a model for ${engine.info.task}, the trace is of ${trace.task}`);
      if (!engine.isReady) await engine.ask("format", {place: 0, choice: {}});
      engine.isReady = true;
      const board = await thinkLive(engine, trace, await boardOf(), (step) => { said.textContent = `step ${step} of ${trace.steps}`; });
      said.textContent = `by ${engine.name}`;
      add(board);
    } catch (error) {
      said.textContent = error.message;
    }
  };
  const button = (text, action) => {
    const made = make("button", {type: "button"}, text);
    made.addEventListener("click", action);
    return made;
  };
  return make("div", {class: "controls live"}, line,
    button("Run this board", run(() => engine.ask("read", {text: line.value.trim()}))),
    button("Run a new board", run(() => engine.ask("make", {seed: crypto.getRandomValues(new Uint32Array(1))[0], values: []}))), said);
}
